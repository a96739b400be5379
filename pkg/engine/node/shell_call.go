package node

// Shell returns the command of a shell node, the name of the shell that must run it, sh or bash, and the environment
// variables that carry the values of its templates, so that a value cannot become code. All are empty for other types.
func (p *Call) Shell() (program, command string, variables []string) {
	if p.script == nil {
		return "", "", nil
	}
	if program = "sh"; p.script.Bash {
		program = "bash"
	}
	return program, p.command, p.values
}
