package check

// plainPaths warns of values that are text although a file has this path, as pflow's Python version reads it.
func (c *checker) plainPaths() {
	for _, r := range c.file.Paths {
		f := c.warn(r.Path, "%q is taken as text, although there is a file of this name", r.Ref)
		f.Node = r.Node
		f.Suggest("To use the content of the file, write ./%s", r.Ref)
	}
}
