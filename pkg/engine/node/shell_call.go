package node

// Shell returns the command of a shell node as a shell runs it, and the environment variables that carry the values of its
// templates, so that a value cannot become code. Both are empty for other types.
func (p *Call) Shell() (command string, variables []string) { return p.command, p.values }
