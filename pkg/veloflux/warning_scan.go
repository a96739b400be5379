package veloflux

import (
	"slices"
	"strings"
)

// The constructs that have no name in SQL.
const (
	distinctAggregate = "DISTINCT in an aggregate"
	aggregateAlone    = "aggregate without a window"
)

// queryScan looks for constructs in the tokens of a query.
type queryScan struct {
	tokens []token
	found  []Warning
}

func (s *queryScan) warn(construct string, at token) {
	s.found = append(s.found, Warning{Construct: construct, Message: warningMessage(construct), Line: at.line, Column: at.column})
}

// at returns a token, or an empty one before the first and after the last.
func (s *queryScan) at(i int) token {
	if i < 0 || i >= len(s.tokens) {
		return token{}
	}
	return s.tokens[i]
}

// closing returns the index of the bracket that closes the one at i, or that of the last token.
func (s *queryScan) closing(i int) int {
	for depth := 0; i < len(s.tokens); i++ {
		switch s.tokens[i].text {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(s.tokens) - 1
}

// queryPart is the part of the query that a scan has reached.
type queryPart int

const (
	beforeSelect queryPart = iota
	inProjection
	inFrom
	afterFrom
)

// clauses finds clauses of the outermost SELECT. A keyword may also be a name (SELECT limit FROM t), so it tells them apart as
// the parser does: an operand begins after an operator or a keyword, and anything else follows an operand.
func (s *queryScan) clauses() {
	part, operand := beforeSelect, false // whether the last token ended an operand
	table := false                       // whether a table may begin here
	for i := 0; i < len(s.tokens); i++ {
		t, before, next := s.tokens[i], s.at(i-1).text, s.at(i+1).text
		mayBeTable := table
		table = false
		switch {
		case t.text == ";":
			return
		case t.kind == valueToken, t.text == ")", t.kind == wordToken && (before == "." || before == "AS"):
			operand = true
		case t.text == "(" && mayBeTable && next != "SELECT" && next != "WITH" && next != "VALUES":
			table = true
		case t.text == "(" || t.text == "[" || t.text == "{":
			if mayBeTable && t.text == "(" {
				s.warn("sub-query in FROM", t)
			}
			i, operand = s.closing(i), true
		case t.text == "*":
			operand = !operand // a wildcard, or a product
		case t.kind == symbolToken:
			operand, table = false, t.text == "," && part == inFrom
		case part == beforeSelect:
			switch {
			case t.text == "SELECT":
				part, i = inProjection, s.options(i)
			case t.text == "WITH" && i == 0:
				s.warn("WITH", t)
			}
		case t.text == "LATERAL" && mayBeTable:
			table = true
		case operand && part == inProjection:
			switch operand = !isInfix(t.text); t.text {
			case "FROM":
				part, table, operand = inFrom, true, false
			case "INTO":
				s.warn("INTO", t)
				operand = false
			}
		case operand:
			operand = false
			switch construct := t.text + " " + next; {
			case t.text == "JOIN" || t.text == "APPLY":
				table = part == inFrom
			case t.text == "WHERE" || t.text == "HAVING":
				part = afterFrom
			case construct == "ORDER BY":
				part, i = afterFrom, i+1
			case construct == "GROUP BY":
				part, i = afterFrom, i+1
				if after := s.at(i + 2); s.at(i+1).text == "ALL" && (after.kind == wordToken || after.kind == blankToken || after.text == ";") {
					s.warn("GROUP BY ALL", t)
				}
			case slices.Contains([]string{"LIMIT", "OFFSET", "FETCH", "QUALIFY", "WINDOW"}, t.text), next == "(" && (t.text == "PIVOT" || t.text == "UNPIVOT"):
				s.warn(t.text, t)
				part = max(part, afterFrom)
			case slices.Contains([]string{"SORT BY", "CLUSTER BY", "DISTRIBUTE BY", "LATERAL VIEW", "FOR UPDATE", "FOR SHARE"}, construct):
				s.warn(construct, t)
				part, i = afterFrom, i+1
			default:
				operand = !isInfix(t.text)
			}
		default: // NOT, CASE, and what belongs to IS DISTINCT FROM, precede an operand; anything else is a name
			operand = t.text != "NOT" && t.text != "CASE" && !(t.text == "DISTINCT" && (before == "IS" || before == "NOT")) && before+t.text != "DISTINCTFROM" && !(isInfix(t.text) && (before == "NOT" || before == "CASE"))
		}
	}
}

// options handles what stands between SELECT, at i, and the projection, and returns the index of its last token.
func (s *queryScan) options(i int) int {
	if s.at(i+1).text == "ALL" {
		i++
	}
	if t := s.at(i + 1); t.text == "DISTINCT" {
		s.warn("DISTINCT", t)
		if i++; s.at(i+1).text == "ON" && s.at(i+2).text == "(" {
			i = s.closing(i + 2)
		}
	}
	if t := s.at(i + 1); t.text == "TOP" {
		s.warn("TOP", t)
		if i += 2; s.at(i).text == "(" {
			i = s.closing(i)
		}
		if s.at(i+1).text == "PERCENT" {
			i++
		}
	}
	return i
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

// calls finds calls of aggregates that do not do what they say. The plan shows which functions are aggregates.
func (s *queryScan) calls(plan string) {
	logical, _, _ := strings.Cut(strings.ToUpper(plan), "PHYSICAL PLAN")
	_, aggregates, aggregated := strings.Cut(logical, "AGGREGATES=[")
	aggregates, _, _ = strings.Cut(aggregates, "\n")
	alone := aggregated && !strings.Contains(logical, "WINDOW_")
	for i, t := range s.tokens {
		if t.kind != wordToken || s.at(i+1).text != "(" || !strings.Contains(aggregates, t.text+"(") {
			continue
		}
		if alone {
			s.warn(aggregateAlone, t)
			alone = false
		}
		if distinct := s.at(i + 2); distinct.text == "DISTINCT" {
			s.warn(distinctAggregate, distinct)
		}
		if filter := s.at(s.closing(i+1) + 1); filter.text == "FILTER" {
			s.warn("FILTER", filter)
		}
	}
}
