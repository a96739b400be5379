package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// static returns the text of a word without its quotes, or false if the shell expands something in it or it contains a
// template.
func static(w *syntax.Word) (text string, ok bool) {
	text, rest := prefix(w)
	return text, rest == 0
}

// prefix returns the literal text at the start of a word, without its quotes, and a positive number if more follows.
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
			before, _, holds := strings.Cut(p.Value, "${"+VariablePrefix)
			b.WriteString(before)
			if holds {
				return b.String(), len(w.Parts) - i
			}
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

// unescaped removes the backslashes that quote one of the characters, or any character if characters is empty.
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

// texts returns the literal text at the start of each word, with a NUL byte if more follows.
func texts(words []*syntax.Word) []string {
	all := make([]string, len(words))
	for i, w := range words {
		text, rest := prefix(w)
		if all[i] = text; rest > 0 {
			all[i] += unknown
		}
	}
	return all
}

// hasText reports whether a word has literal text.
func hasText(parts []syntax.WordPart) bool {
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit, *syntax.SglQuoted:
			return true
		case *syntax.DblQuoted:
			if hasText(p.Parts) {
				return true
			}
		}
	}
	return false
}

// plainVariable returns the name of the variable if a word, quoted or not, consists of its plain expansion, and "" otherwise.
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

// quotedWord reports whether a part of a word is quoted.
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

// assignedName returns the name of the variable that an assignment sets, or an argument of export that has the form of one.
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

// base returns the last element of a path.
func base(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }
