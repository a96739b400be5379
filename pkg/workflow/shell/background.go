package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// leaves warns of a command that leaves a process behind: one in the background that it neither waits for nor ends, or a session of its own.
// All processes of a node are ended with it.
func (d *draft) leaves(file *syntax.File) {
	var at *syntax.Pos
	ended := false
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			if n.Background && at == nil {
				pos := n.Pos()
				at = &pos
			}
		case *syntax.CallExpr:
			words := literals(n)
			if len(words) == 0 {
				break
			}
			ended = ended || slices.Contains([]string{"wait", "kill", "pkill", "killall", "fg"}, words[0])
			if detaches(words) && at == nil {
				pos := n.Pos()
				at = &pos
			}
		}
		return true
	})
	if at != nil && !ended {
		d.add(leftBehind(d.original(at.Offset())))
	}
}

// literals returns the words of a command up to the first that is not literal.
func literals(c *syntax.CallExpr) (words []string) {
	for _, w := range c.Args {
		if w.Lit() == "" {
			break
		}
		words = append(words, w.Lit())
	}
	return words
}

// detaches reports whether a command starts another one in a session of its own, and does not wait for it.
func detaches(words []string) bool {
	return words[0] == "setsid" && len(words) > 1 && !slices.ContainsFunc(words[1:], func(w string) bool {
		return w == "--wait" || w == "--fork" || strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "--") && strings.Contains(w, "w")
	})
}

// leftBehind is the problem of a command that leaves a process behind.
func leftBehind(offset int) Problem {
	return Problem{Kind: LeftBehind, Offset: offset, Warning: true, Message: "a process that the command leaves in the background is ended with the node",
		Suggest: "End it in the command too, with wait or kill; what must go on longer is started outside of the workflow"}
}
