package program

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// bash reads a bash program: the assignments in the shell that runs it, not those in subshells, nor local ones.
func bash(code string, n *Next) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(code), "")
	if err != nil {
		return
	}
	bashStatements(file, false, n)
}

// bashStatements reads a part of a program. In a function, declare makes a local variable.
func bashStatements(part syntax.Node, function bool, n *Next) {
	syntax.Walk(part, func(node syntax.Node) bool {
		switch node := node.(type) {
		case *syntax.FuncDecl:
			bashStatements(node.Body, true, n)
			return false
		case *syntax.Subshell, *syntax.CmdSubst, *syntax.ProcSubst:
			return false
		case *syntax.Stmt:
			return !node.Background && !node.Coprocess
		case *syntax.BinaryCmd:
			return node.Op != syntax.Pipe && node.Op != syntax.PipeAll
		case *syntax.ForClause:
			if loop, ok := node.Loop.(*syntax.WordIter); ok && loop.Name.Value == name {
				n.other(int(loop.Name.Pos().Offset()))
			}
		case *syntax.CallExpr:
			if len(node.Args) == 0 {
				bashAssigns(node.Assigns, n)
			}
			bashBuiltin(node.Args, n)
		case *syntax.DeclClause:
			if !function || listed("export readonly", node.Variant.Value) {
				bashAssigns(node.Args, n)
			}
		}
		return true
	})
}

// bashAssigns reads assignments.
func bashAssigns(all []*syntax.Assign, n *Next) {
	for _, a := range all {
		switch {
		case a.Name == nil || a.Name.Value != name || a.Naked:
		case a.Append || a.Index != nil || a.Array != nil:
			n.other(int(a.Pos().Offset()))
		case a.Value == nil:
		default:
			if text, ok := bashText(a.Value.Parts); ok {
				n.literal(text, int(a.Value.Pos().Offset()))
			} else {
				n.other(int(a.Pos().Offset()))
			}
		}
	}
}

// bashBuiltin reads a command that assigns to a variable whose name is an argument.
func bashBuiltin(args []*syntax.Word, n *Next) {
	var words []string
	for _, w := range args {
		text, _ := bashText(w.Parts)
		words = append(words, text)
	}
	for i, w := range words {
		if w == name && (words[0] == "read" || i == 2 && words[0] == "printf" && words[1] == "-v") {
			n.other(int(args[i].Pos().Offset()))
		}
	}
}

// bashText returns the text of a word; ok is false if it is known only when the program runs.
func bashText(parts []syntax.WordPart) (text string, ok bool) {
	var b strings.Builder
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			if strings.ContainsAny(p.Value, `\~`) {
				return "", false
			}
			b.WriteString(p.Value)
		case *syntax.SglQuoted:
			if p.Dollar && strings.Contains(p.Value, `\`) {
				return "", false
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			inner, ok := bashText(p.Parts)
			if !ok {
				return "", false
			}
			b.WriteString(inner)
		default:
			return "", false
		}
	}
	return b.String(), true
}
