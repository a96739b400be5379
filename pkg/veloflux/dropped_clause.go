package veloflux

// clauseScan walks over the outermost SELECT of a query. A keyword may be a name as well (SELECT limit FROM t), so it
// tells them apart as the parser does: an operand begins where an operator or a keyword has just been, and anything
// else follows an operand.
type clauseScan struct {
	lexer *lexer
	found []Warning

	part    queryPart
	operand bool   // the last token ended an operand
	before  string // the last token's text
	table   bool   // a table may begin here
	opened  *token // the last token, if it is a parenthesis where a table may begin
}

// queryPart is how far a scan has come.
type queryPart int

const (
	beforeSelect queryPart = iota
	afterSelect            // just behind the word, where DISTINCT and TOP may be
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
		s.ends(true)
	}
	s.before = t.text
}

// ends notes what the token of this step was, for the next one.
func (s *clauseScan) ends(operand bool) {
	s.operand, s.table, s.opened = operand, false, nil
	switch {
	case s.part != afterSelect:
	case s.before == "TOP" || s.before == "ON": // TOP 5 and DISTINCT ON (a) stand before the projection
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
		s.ends(true)
	case ")":
		s.ends(true)
	case "*":
		s.ends(!s.operand) // a wildcard, or a product
	case ",":
		s.ends(false)
		s.table = s.part == inFrom
	default:
		s.ends(false)
	}
}

// skipToClosing passes over the rest of what has just been opened.
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
		s.ends(true) // a name, whatever it is
	case s.opened != nil && (t.text == "SELECT" || t.text == "WITH" || t.text == "VALUES"):
		s.warn("sub-query in FROM", *s.opened)
		s.skipToClosing()
		s.ends(true)
	case s.part == beforeSelect:
		s.start(t)
	case s.part == afterSelect && s.selectOption(t):
		s.operand = false
	case s.operand && s.clause(t):
	case isInfix(t.text) && (s.operand || s.before == "NOT" || s.before == "CASE"):
		s.ends(false)
	case !s.operand && (t.text == "NOT" || t.text == "CASE"):
		s.ends(false)
	case !s.operand && t.text == "DISTINCT" && (s.before == "IS" || s.before == "NOT"),
		t.text == "FROM" && s.before == "DISTINCT" && s.part != afterSelect:
		s.ends(false) // a IS DISTINCT FROM b
	case t.text == "LATERAL" && s.table:
		s.table = true
	default:
		s.ends(true)
	}
}

// start takes a word before the outermost SELECT.
func (s *clauseScan) start(t token) {
	s.ends(false)
	switch {
	case t.text == "WITH" && s.before == "":
		s.warn("WITH", t)
	case t.text == "SELECT":
		s.part = afterSelect
	}
}

// selectOption takes a word that may stand between SELECT and the projection.
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

// clause takes a word behind an operand that begins a clause or a table.
func (s *clauseScan) clause(t token) bool {
	switch {
	case t.text == "FROM" && s.part < inFrom:
		s.ends(false)
		s.part, s.table = inFrom, true
		return true
	case s.part < inFrom:
		return false
	}
	switch t.text {
	case "JOIN", "APPLY":
		s.ends(false)
		s.table = s.part == inFrom
	case "WHERE", "GROUP", "HAVING", "ORDER", "WINDOW":
		s.ends(t.text == "GROUP" || t.text == "ORDER") // BY follows those as an operator would
		s.part = afterFrom
	case "LIMIT", "OFFSET", "FETCH", "QUALIFY":
		s.warn(t.text, t)
		s.ends(false)
		s.part = afterFrom
	default:
		return false
	}
	return true
}

// isInfix says whether a word behind an operand has another one behind itself.
func isInfix(word string) bool {
	switch word {
	case "AND", "OR", "XOR", "NOT", "IS", "IN", "LIKE", "ILIKE", "RLIKE", "REGEXP", "SIMILAR", "TO", "BETWEEN", "ESCAPE",
		"DIV", "COLLATE", "WHEN", "THEN", "ELSE", "ON", "BY", "AS", "OVER":
		return true
	}
	return false
}
