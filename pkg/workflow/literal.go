package workflow

// CodeType is the node type that runs a program in another language.
const CodeType = "code"

// Literal returns the name of the node's parameter in which ${ does not start a template of the node, because it is a program
// or a workflow object with templates of its own. It returns "" if there is no such parameter.
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
