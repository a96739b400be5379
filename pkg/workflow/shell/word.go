package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// static is the text of a word in which nothing is expanded and no template stands, without its quotes.
func static(w *syntax.Word) (text string, ok bool) {
	text, rest := prefix(w)
	return text, rest == 0
}

// prefix is the text that a word begins with, without its quotes, and how many of its parts are not text alone.
func prefix(w *syntax.Word) (text string, rest int) {
	if w == nil {
		return "", 0
	}
	var b strings.Builder
	for i, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			b.WriteString(unescaped(p.Value, ""))
		case *syntax.SglQuoted:
			if strings.Contains(p.Value, "${"+VariablePrefix) {
				return b.String(), len(w.Parts) - i
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			for j, q := range p.Parts {
				lit, ok := q.(*syntax.Lit)
				if !ok {
					return b.String(), len(w.Parts) - i + len(p.Parts) - j
				}
				b.WriteString(unescaped(lit.Value, "$`\"\\"))
			}
		default:
			return b.String(), len(w.Parts) - i
		}
	}
	return b.String(), 0
}

// unescaped is a text without the backslashes that quote one of the characters, or any when none are given.
func unescaped(s, characters string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && (characters == "" || strings.IndexByte(characters, s[i+1]) >= 0) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// hasText says whether text stands in a word beside what is expanded.
func hasText(parts []syntax.WordPart) bool {
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			return true
		case *syntax.DblQuoted:
			if hasText(p.Parts) {
				return true
			}
		}
	}
	return false
}

// plainVariable is the variable whose value a word is and nothing else, quoted or not.
func plainVariable(w *syntax.Word) string {
	if w == nil || len(w.Parts) != 1 {
		return ""
	}
	part := w.Parts[0]
	if q, ok := part.(*syntax.DblQuoted); ok && len(q.Parts) == 1 {
		part = q.Parts[0]
	}
	if p, ok := part.(*syntax.ParamExp); ok && p.Param != nil && !p.Excl && !p.Length && p.Index == nil && p.Slice == nil && p.Repl == nil && p.Exp == nil {
		return p.Param.Value
	}
	return ""
}

// quotedWord says whether some of a word is quoted.
func quotedWord(w *syntax.Word) bool {
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.SglQuoted, *syntax.DblQuoted:
			return true
		case *syntax.Lit:
			if strings.Contains(p.Value, `\`) {
				return true
			}
		}
	}
	return false
}

// assignedName is the variable that an assignment, or an argument of export that stands for one, sets.
func assignedName(a *syntax.Assign) string {
	if a.Name != nil {
		return a.Name.Value
	}
	text, _ := prefix(a.Value)
	if name, _, ok := strings.Cut(text, "="); ok && shellName(name) == name {
		return name
	}
	return ""
}

// base is the last part of a path.
func base(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }
