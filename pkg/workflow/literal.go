package workflow

// CodeType is the node type whose code is a program in another language.
const CodeType = "code"

// Literal names the parameter of a node in which ${ begins no template of the node's: a program, or a workflow that
// stands there itself and has templates of its own. It is empty where there is none.
func Literal(n *Node) string {
	switch n.Type {
	case CodeType:
		return "code"
	case SubType:
		if sub, ok := SubOf(n.Params); ok && sub.Inline != nil {
			return sub.Param
		}
	}
	return ""
}
