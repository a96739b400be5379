package velofluxserver

import "strings"

// String returns the expression in the Manager's spelling.
func (e *expr) String() string {
	switch e.kind {
	case unaryExpr:
		if len(e.text) > 1 {
			return e.text + " " + e.args[0].String()
		}
		return e.text + e.args[0].String()
	case binaryExpr:
		switch e.text {
		case "[]":
			return e.args[0].String() + "[" + e.args[1].String() + "]"
		case "->":
			return e.args[0].String() + "->" + e.args[1].String()
		}
		return e.args[0].String() + " " + e.text + " " + e.args[1].String()
	case parensExpr:
		return "(" + joined(e.args) + ")"
	case callExpr:
		text := e.text + "(" + joined(e.args) + ")"
		if e.over != nil {
			text += " OVER (" + *e.over + ")"
		}
		return text
	case caseExpr:
		return e.caseText()
	case starExpr, nameExpr, constantExpr, testExpr, unsupportedExpr:
	}
	return e.text
}

func (e *expr) caseText() string {
	var b strings.Builder
	b.WriteString("CASE")
	for i := 0; i+1 < len(e.args); i += 2 {
		b.WriteString(" WHEN " + e.args[i].String() + " THEN " + e.args[i+1].String())
	}
	if len(e.args)%2 == 1 {
		b.WriteString(" ELSE " + e.args[len(e.args)-1].String())
	}
	b.WriteString(" END")
	return b.String()
}

func joined(all []*expr) string {
	var parts []string
	for _, e := range all {
		parts = append(parts, e.String())
	}
	return strings.Join(parts, ", ")
}

// walk visits an expression and all its descendants, including the field name after ->.
func (e *expr) walk(visit func(*expr)) {
	visit(e)
	for _, a := range e.args {
		a.walk(visit)
	}
}
