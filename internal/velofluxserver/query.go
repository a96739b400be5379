package velofluxserver

import (
	"slices"
	"strings"
)

// query is a SELECT statement without what the Manager drops silently: DISTINCT, LIMIT and sub-queries.
type query struct {
	items  []selectItem
	from   []source
	where  *expr
	group  []*expr
	having *expr
	order  []sortKey
}

// selectItem is an item of the select list.
type selectItem struct {
	expr  *expr
	alias string
}

// source is a stream in FROM.
type source struct{ name, alias string }

// parseSQL parses a statement, or returns the Manager's text for what is wrong with it.
func parseSQL(sql string) (q *query, wrong string) {
	all, wrong := tokens(sql)
	if wrong != "" {
		return nil, wrong
	}
	defer func() {
		if mistake := recover(); mistake != nil {
			text, ok := mistake.(parseError)
			if !ok {
				panic(mistake)
			}
			q, wrong = nil, string(text)
		}
	}()
	return (&parser{all: all}).statements()
}

// statements parses all statements. There must be exactly one.
func (p *parser) statements() (q *query, wrong string) {
	count := 0
	for {
		for p.accept(";") {
		}
		if p.peek().kind == endToken {
			break
		}
		q, wrong = p.statement()
		count++
		if p.peek().kind != endToken && !p.peek().is(";") {
			p.expected("end of statement")
		}
	}
	if count != 1 {
		return nil, "Expected exactly one SQL statement"
	}
	if wrong == "" {
		wrong = q.windows()
	}
	return q, wrong
}

func (p *parser) statement() (q *query, wrong string) {
	defer p.enter()()
	t := p.peek()
	switch {
	case p.accept("("):
		q, wrong = p.statement()
		p.expect(")")
		return q, wrong
	case p.accept("WITH"):
		for {
			p.next()
			p.expect("AS")
			p.balanced()
			if !p.accept(",") {
				break
			}
		}
		return p.statement()
	case p.accept("SELECT"):
		q = p.query()
		if p.accept("UNION") || p.accept("EXCEPT") || p.accept("INTERSECT") {
			p.accept("ALL")
			_, _ = p.statement()
			wrong = "Expected a simple SELECT query"
		}
		return q, wrong
	case slices.ContainsFunc([]string{"INSERT", "UPDATE", "DELETE", "CREATE", "DROP", "ALTER", "SHOW", "EXPLAIN", "SET", "USE", "TRUNCATE", "DESCRIBE"}, t.is):
		for !p.peek().is(";") && p.peek().kind != endToken {
			p.next()
		}
		return nil, "Expected a SELECT query"
	}
	p.expected("an SQL statement")
	return nil, ""
}

// query parses the rest of a SELECT statement.
func (p *parser) query() *query {
	q := &query{}
	_ = p.accept("DISTINCT") || p.accept("ALL")
	for {
		q.items = append(q.items, p.item())
		if !p.accept(",") {
			break
		}
	}
	if p.accept("FROM") {
		q.from = p.sources()
	}
	if p.accept("WHERE") {
		q.where = p.expression()
	}
	if p.accept("GROUP", "BY") {
		q.group = p.expressions()
	}
	if p.accept("HAVING") {
		q.having = p.expression()
	}
	if p.accept("ORDER", "BY") {
		q.order = p.ordering()
	}
	if p.accept("LIMIT") {
		p.expression()
	}
	if p.accept("OFFSET") {
		p.expression()
	}
	return q
}

func (p *parser) item() selectItem {
	i := selectItem{expr: p.expression()}
	if p.accept("AS") {
		i.alias = p.next().text
	} else if p.isAlias() {
		i.alias = p.next().text
	}
	return i
}

// isAlias reports whether the next token is an alias without AS.
func (p *parser) isAlias() bool {
	t := p.peek()
	return t.kind == nameToken || t.kind == wordToken && !slices.ContainsFunc([]string{
		"FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET", "UNION", "EXCEPT", "INTERSECT", "JOIN", "INNER", "LEFT", "RIGHT", "FULL", "CROSS", "ON", "USING",
	}, t.is)
}

func (p *parser) sources() []source {
	all := []source{p.source()}
	for {
		switch {
		case p.accept(",") || p.accept("JOIN") || p.accept("INNER", "JOIN") || p.accept("CROSS", "JOIN"):
		case p.peek().is("LEFT") || p.peek().is("RIGHT") || p.peek().is("FULL"):
			p.next()
			p.accept("OUTER")
			p.expect("JOIN")
		default:
			return all
		}
		all = append(all, p.source())
		if p.accept("ON") {
			p.expression()
		}
	}
}

// source parses a stream, or a sub-query and returns its stream.
func (p *parser) source() source {
	var s source
	t := p.next()
	switch {
	case t.is("("):
		inner, _ := p.statement()
		p.expect(")")
		if inner != nil && len(inner.from) > 0 {
			s = inner.from[0]
		}
	case t.kind == wordToken || t.kind == nameToken:
		s.name = t.text
	default:
		if t.kind != endToken {
			p.at--
		}
		p.expected("identifier")
	}
	if p.accept("AS") || p.isAlias() {
		s.alias = p.next().text
	}
	return s
}

func (p *parser) expressions() []*expr {
	all := []*expr{p.expression()}
	for p.accept(",") {
		all = append(all, p.expression())
	}
	return all
}

// sortKey is a key of ORDER BY.
type sortKey struct {
	expr       *expr
	descending bool
}

func (p *parser) ordering() []sortKey {
	var all []sortKey
	for {
		key := sortKey{expr: p.expression()}
		if !p.accept("ASC") {
			key.descending = p.accept("DESC")
		}
		all = append(all, key)
		if !p.accept(",") {
			return all
		}
	}
}

// window reports whether an expression of GROUP BY declares a window.
func (e *expr) window() bool {
	return e.kind == callExpr && slices.Contains([]string{"tumblingwindow", "slidingwindow", "countwindow", "statewindow"}, strings.ToLower(e.text))
}

// windows returns what is wrong with the windows in GROUP BY, or "".
func (q *query) windows() (wrong string) {
	count := 0
	for _, e := range q.group {
		if !e.window() {
			continue
		}
		count++
		kind := strings.ToLower(e.text)
		if (kind == "tumblingwindow" || kind == "slidingwindow") && len(e.args) > 0 {
			if unit := strings.Trim(e.args[0].text, "'"); unit != "ss" {
				return "Dialect processing error: sql parser error: unsupported time unit `" + unit + "` (only `ss` allowed)"
			}
		}
	}
	if count > 1 {
		return "Only one window function is allowed in GROUP BY"
	}
	return ""
}
