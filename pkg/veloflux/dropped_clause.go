package veloflux

// clauseScan walks over the outermost SELECT of a query. A keyword may also be a name (SELECT limit FROM t), so it tells
// them apart as the parser does: an operand begins after an operator or a keyword, and anything else follows an operand.
type clauseScan struct {
	lexer *lexer
	found []Warning

	part    queryPart
	operand bool   // the last token ended an operand
	before  string // the text of the last token
	table   bool   // a table may begin here
	opened  *token // the last token if it is a parenthesis where a table may begin, else nil
}

// queryPart is the part of the query that a scan has reached.
type queryPart int

const (
	beforeSelect queryPart = iota
	afterSelect            // directly after the word, where DISTINCT and TOP may be
	inProjection
	inFrom
	afterFrom
)

func (s *clauseScan) step(t token) {
	switch t.kind {
	case wordToken:
		s.word(t)
	case symbolToken:
		s.symbol(t)
	default:
		s.note(true)
	}
	s.before = t.text
}

// note records, for the next step, whether this token ended an operand.
func (s *clauseScan) note(operand bool) {
	s.operand, s.table, s.opened = operand, false, nil
	switch {
	case s.part != afterSelect:
	case s.before == "TOP" || s.before == "ON": // TOP 5 and DISTINCT ON (a) precede the projection
		s.operand = false
	default:
		s.part = inProjection
	}
}

func (s *clauseScan) warn(construct string, at token) {
	s.found = append(s.found, Warning{Construct: construct, Message: droppedMessage(construct), Line: at.line, Column: at.column})
}

func (s *clauseScan) symbol(t token) {
	switch t.text {
	case "(", "[", "{":
		if t.text == "(" && s.table {
			s.opened, s.operand = &t, false
			return
		}
		s.skipToClosing()
		s.note(true)
	case ")":
		s.note(true)
	case "*":
		s.note(!s.operand) // a wildcard, or a product
	case ",":
		s.note(false)
		s.table = s.part == inFrom
	default:
		s.note(false)
	}
}

// skipToClosing skips everything up to the closing parenthesis or bracket of the one that was just read.
func (s *clauseScan) skipToClosing() {
	for depth := 1; depth > 0; {
		switch t := s.lexer.next(); {
		case t.kind == endToken:
			return
		case t.kind != symbolToken:
		case t.text == "(" || t.text == "[" || t.text == "{":
			depth++
		case t.text == ")" || t.text == "]" || t.text == "}":
			depth--
		}
	}
}

func (s *clauseScan) word(t token) {
	switch {
	case s.before == "." || s.before == "AS":
		s.note(true) // a name, whatever it is
	case s.opened != nil && (t.text == "SELECT" || t.text == "WITH" || t.text == "VALUES"):
		s.warn("sub-query in FROM", *s.opened)
		s.skipToClosing()
		s.note(true)
	case s.part == beforeSelect:
		s.start(t)
	case s.part == afterSelect && s.selectOption(t):
		s.operand = false
	case s.operand && s.clause(t):
	case isInfix(t.text) && (s.operand || s.before == "NOT" || s.before == "CASE"):
		s.note(false)
	case !s.operand && (t.text == "NOT" || t.text == "CASE"):
		s.note(false)
	case !s.operand && t.text == "DISTINCT" && (s.before == "IS" || s.before == "NOT"),
		t.text == "FROM" && s.before == "DISTINCT" && s.part != afterSelect:
		s.note(false) // a IS DISTINCT FROM b
	case t.text == "LATERAL" && s.table:
		s.table = true
	default:
		s.note(true)
	}
}

// start handles a word before the outermost SELECT.
func (s *clauseScan) start(t token) {
	s.note(false)
	switch {
	case t.text == "WITH" && s.before == "":
		s.warn("WITH", t)
	case t.text == "SELECT":
		s.part = afterSelect
	}
}

// selectOption handles a word between SELECT and the projection. It reports whether the word belongs there.
func (s *clauseScan) selectOption(t token) bool {
	switch t.text {
	case "DISTINCT", "TOP":
		if s.before != "SELECT" && (t.text == "DISTINCT" || s.before != "DISTINCT" && s.before != "ALL") {
			return false
		}
		s.warn(t.text, t)
	case "ALL":
	case "PERCENT": // of TOP 5 PERCENT
		return s.before == "" || s.before == "("
	case "ON":
		return s.before == "DISTINCT"
	default:
		return false
	}
	return true
}

// clause handles a word after an operand. It reports whether the word begins a clause or a table.
func (s *clauseScan) clause(t token) bool {
	switch {
	case t.text == "FROM" && s.part < inFrom:
		s.note(false)
		s.part, s.table = inFrom, true
		return true
	case s.part < inFrom:
		return false
	}
	switch t.text {
	case "JOIN", "APPLY":
		s.note(false)
		s.table = s.part == inFrom
	case "WHERE", "GROUP", "HAVING", "ORDER", "WINDOW":
		s.note(t.text == "GROUP" || t.text == "ORDER") // BY follows these like an operator
		s.part = afterFrom
	case "LIMIT", "OFFSET", "FETCH", "QUALIFY":
		s.warn(t.text, t)
		s.note(false)
		s.part = afterFrom
	default:
		return false
	}
	return true
}

// isInfix reports whether a word after an operand is followed by another operand.
func isInfix(word string) bool {
	switch word {
	case "AND", "OR", "XOR", "NOT", "IS", "IN", "LIKE", "ILIKE", "RLIKE", "REGEXP", "SIMILAR", "TO", "BETWEEN", "ESCAPE",
		"DIV", "COLLATE", "WHEN", "THEN", "ELSE", "ON", "BY", "AS", "OVER":
		return true
	}
	return false
}
