package velofluxserver

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// plan is the plan that the Manager would make of a query.
type plan struct {
	from, alias string
	stream      *stream
	// columns are the used columns of the stream, in its order.
	columns []string
	// aggregates and stateful are calls with the columns of their values, such as "sum(a) -> col_1".
	aggregates, stateful []string
	fields               []planField
	where, having        *expr
	window               *expr
	groups, order        []string
}

// planField is a field of the output.
type planField struct {
	expr *expr
	// as is the name of the field; empty means that of the expression.
	as string
	// column is the stream's column if the field is that column unchanged, else "".
	column string
}

// planner makes a plan. wrong keeps the first problem.
type planner struct {
	*plan
	known   map[string]bool // the stream's columns
	aliases map[string]*expr
	used    map[string]bool
	calls   map[string]string
	wrong   string
}

// planned returns the plan of a query, or the planner's text for what is wrong.
func (s *Server) planned(q *query) (made *plan, wrong string) {
	if len(q.from) == 0 {
		return nil, "No data source found in SELECT statement"
	}
	from := q.from[0]
	p := &planner{
		plan:  &plan{from: from.name, alias: from.alias, stream: s.streams[from.name]},
		known: map[string]bool{}, aliases: map[string]*expr{}, used: map[string]bool{}, calls: map[string]string{},
	}
	for _, c := range p.plan.stream.Schema.Columns {
		p.known[c.Name] = true
	}
	for _, check := range []func(*query){p.checkAliases, p.checkGroups, p.checkSources, p.projection, p.filters, p.grouping} {
		if check(q); p.wrong != "" {
			return nil, p.wrong
		}
	}
	for _, c := range p.plan.stream.Schema.Columns {
		if p.used[c.Name] {
			p.columns = append(p.columns, c.Name)
		}
	}
	slices.Sort(p.aggregates)
	slices.Sort(p.stateful)
	return p.plan, ""
}

func (p *planner) fail(format string, args ...any) {
	if p.wrong == "" {
		p.wrong = fmt.Sprintf(format, args...)
	}
}

// checkAliases refuses duplicate aliases, and aliases that are used before they are defined, even as a field after ->.
func (p *planner) checkAliases(q *query) {
	later := map[string]bool{}
	for _, i := range q.items {
		if i.alias != "" && later[i.alias] {
			p.fail("duplicate SELECT alias `%s`", i.alias)
		}
		later[i.alias] = true
	}
	for _, i := range q.items {
		i.expr.walk(func(e *expr) {
			if e.kind == nameExpr && later[e.text] && !p.known[e.text] {
				p.fail("forward reference to SELECT alias `%s` is not allowed", e.text)
			}
		})
		delete(later, i.alias)
	}
}

func (p *planner) checkGroups(q *query) {
	aggregated := false
	for _, i := range q.items {
		i.expr.walk(func(e *expr) { aggregated = aggregated || e.kind == callExpr && functionKind(e.text) == "aggregate" })
	}
	if len(q.group) > 0 && !aggregated {
		p.fail("GROUP BY without aggregate functions is not supported; use aggregates or remove GROUP BY")
	}
}

func (p *planner) checkSources(q *query) {
	if len(q.from) > 1 {
		p.fail("Invalid configuration: encoder processor failed to resolve output schema: PhysicalBarrier fan-in children output schemas mismatch")
	}
}

func (p *planner) projection(q *query) {
	for _, i := range q.items {
		resolved := p.resolve(i.expr)
		f := planField{expr: resolved, as: i.alias}
		switch {
		case i.expr.kind == nameExpr && p.aliases[i.expr.text] == nil:
			f.column = p.column(i.expr.text)
		case f.as == "" && i.expr.kind != starExpr:
			f.as = i.expr.String()
		}
		p.fields = append(p.fields, f)
		if i.alias != "" && p.column(i.alias) == "" {
			p.aliases[i.alias] = resolved
		}
	}
}

func (p *planner) filters(q *query) {
	if q.where != nil {
		p.where = p.resolve(q.where)
	}
	if q.having != nil {
		p.having = p.resolve(q.having)
	}
	for _, key := range q.order {
		direction := " ASC"
		if key.descending {
			direction = " DESC"
		}
		p.order = append(p.order, p.resolve(key.expr).String()+direction)
	}
}

func (p *planner) grouping(q *query) {
	for _, e := range q.group {
		if !e.window() {
			p.groups = append(p.groups, p.resolve(e).String())
			continue
		}
		p.window = e
		for _, a := range e.args {
			p.resolve(a)
		}
		p.partition(e)
	}
}

// column returns the stream's column that a name means, or "".
func (p *planner) column(text string) string {
	if prefix, rest, ok := strings.Cut(text, "."); ok && (prefix == p.from || prefix == p.alias) {
		text = rest
	}
	text = strings.Trim(text, "\"`")
	if p.known[text] {
		return text
	}
	return ""
}

// resolve replaces the aliases and calls in an expression by their values, and records the columns that it uses.
func (p *planner) resolve(e *expr) *expr {
	made := *e
	made.args = nil
	switch e.kind {
	case nameExpr:
		return p.resolveName(e)
	case starExpr:
		for c := range p.known {
			p.used[c] = true
		}
		return e
	case unsupportedExpr:
		p.fail("Failed to compile expression: Unsupported expression: %s", e)
		return e
	case callExpr:
		if functionKind(e.text) == "" {
			p.fail("Failed to compile expression: Unsupported expression: Unknown function: '%s'. Available custom functions: %s", e.text, availableFunctions())
			return e
		}
	case testExpr, constantExpr, unaryExpr, binaryExpr, parensExpr, caseExpr:
	}
	for i, a := range e.args {
		if e.kind == binaryExpr && e.text == "->" && i == 1 {
			made.args = append(made.args, a)
			continue
		}
		made.args = append(made.args, p.resolve(a))
	}
	if e.kind == callExpr {
		p.partition(e)
		return p.called(&made)
	}
	return &made
}

func (p *planner) resolveName(e *expr) *expr {
	if c := p.column(e.text); c != "" {
		p.used[c] = true
		return e
	}
	if value := p.aliases[e.text]; value != nil {
		return &expr{kind: parensExpr, args: []*expr{value}}
	}
	p.fail("Failed to compile expression: Column not found: No schema bindings available for identifier '%s", e.text)
	return e
}

// partition records the columns after OVER.
func (p *planner) partition(e *expr) {
	if e.over == nil {
		return
	}
	for _, w := range strings.FieldsFunc(*e.over, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '.' }) {
		if c := p.column(w); c != "" {
			p.used[c] = true
		}
	}
}

// called returns the column for the value of a call. The call of a scalar function is returned unchanged.
func (p *planner) called(e *expr) *expr {
	kind, text := functionKind(e.text), e.String()
	if kind == "scalar" {
		return e
	}
	if p.calls[text] == "" {
		p.calls[text] = fmt.Sprintf("col_%d", len(p.calls)+1)
		noted := text + " -> " + p.calls[text]
		if kind == "aggregate" {
			p.aggregates = append(p.aggregates, noted)
		} else {
			p.stateful = append(p.stateful, noted)
		}
	}
	return &expr{kind: constantExpr, text: p.calls[text]}
}
