package velofluxserver

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// row is a row of an explained plan: a node and its description.
type row struct{ node, info string }

// rows are the rows of a plan, sources first. They number the nodes.
type rows struct {
	all  []row
	next int
}

func (r *rows) add(node, format string, args ...any) {
	r.all = append(r.all, row{fmt.Sprintf("%s_%d", node, r.next), fmt.Sprintf(format, args...)})
	r.next++
}

// explained returns both plans, padded as the Manager pads them.
func (p *pipeline) explained() string {
	return "Logical Plan Explain:\n" + table(p.logical()) + "\n\nPhysical Plan Explain:\n" + table(p.physical())
}

// table draws rows from the last to the first, each indented further. Like the Manager, it takes the width of a column
// from the bytes of its longest text but pads by characters, so that texts with box characters get too many spaces.
func table(all []row) string {
	drawn := []row{{"- id", "info"}}
	for i := range all {
		r := all[len(all)-1-i]
		if i == 0 {
			r.node = "  " + r.node
		} else {
			r.node = strings.Repeat("  ", i) + "└─" + r.node
		}
		drawn = append(drawn, r)
	}
	var left, right int
	for _, r := range drawn {
		left, right = max(left, len(r.node)), max(right, len(r.info))
	}
	var lines []string
	for _, r := range drawn {
		lines = append(lines, padded(r.node, left)+" | "+padded(r.info, right))
	}
	return strings.Join(lines, "\n")
}

func padded(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(text)))
}

func (p *pipeline) logical() []row {
	q := p.plan
	r := &rows{}
	sampler := ""
	if q.stream.samplerKind != "" {
		sampler = ", sampler.strategy=" + q.stream.samplerKind
	}
	r.add("DataSource", "%s, decoder=%s, schema=%s%s", q.source(), q.stream.Decoder.Type, list(p.columns(), ", "), sampler)
	if len(q.stateful) > 0 {
		r.add("StatefulFunction", "calls=%s", list(q.stateful, "; "))
	}
	if q.where != nil {
		r.add("Filter", "predicate=%s", q.where)
	}
	if q.window != nil {
		r.add("Window", "kind=%s", q.windowed())
	}
	if len(q.aggregates) > 0 {
		r.add("Aggregation", "aggregates=%s%s", list(q.aggregates, "; "), q.grouped())
	}
	if q.having != nil {
		r.add("Filter", "predicate=%s", q.having)
	}
	if len(q.order) > 0 {
		r.add("Order", "keys=%s", list(q.order, "; "))
	}
	r.add("Project", "fields=%s", q.projected(func(planField) bool { return true }))
	for _, s := range p.sinks {
		r.add("DataSink", "sink_id=%s, connector=%s, encoder=%s", s.id, s.connector, s.encoder)
	}
	r.add("Tail", "sink_count=%d", len(p.sinks))
	return r.all
}

// columns returns the columns that are read, including the column of the event time if it is used.
func (p *pipeline) columns() []string {
	if !p.eventtime() {
		return p.plan.columns
	}
	var all []string
	rest := p.plan.columns
	for _, c := range p.plan.stream.Schema.Columns {
		used := len(rest) > 0 && rest[0] == c.Name
		if used {
			rest = rest[1:]
		}
		if used || c.Name == p.plan.stream.eventColumn {
			all = append(all, c.Name)
		}
	}
	return all
}

func (p *pipeline) eventtime() bool {
	return p.spec.Options.Eventtime.Enabled && p.plan.stream.eventColumn != ""
}

func list(all []string, between string) string { return "[" + strings.Join(all, between) + "]" }

func (q *plan) source() string {
	if q.alias != "" {
		return "source=" + q.from + ", alias=" + q.alias
	}
	return "source=" + q.from
}

func (q *plan) grouped() string {
	if len(q.groups) == 0 {
		return ""
	}
	return ", group_by=" + list(q.groups, "; ")
}

// projected returns the fields for which wanted reports true.
func (q *plan) projected(wanted func(planField) bool) string {
	var all []string
	for _, f := range q.fields {
		if !wanted(f) {
			continue
		}
		text := f.expr.String()
		if f.as != "" {
			text += " as " + f.as
		}
		all = append(all, text)
	}
	return list(all, "; ")
}

// windowed returns the description of the window.
func (q *plan) windowed() string {
	switch strings.ToLower(q.window.text) {
	case "tumblingwindow":
		return "tumbling, unit=Seconds, length=" + q.windowArg(1)
	case "slidingwindow":
		return "sliding, unit=Seconds, lookback=" + q.windowArg(1) + ", lookahead=" + q.windowArg(2)
	case "countwindow":
		return "count, count=" + q.windowArg(0)
	}
	text := "state, open=" + q.windowArg(0) + ", emit=" + q.windowArg(1)
	if q.window.over != nil {
		text += ", partition_by=" + strings.TrimPrefix(*q.window.over, "PARTITION BY ")
	}
	return text
}

func (q *plan) windowArg(i int) string {
	if i < len(q.window.args) {
		return q.window.args[i].String()
	}
	return "none"
}
