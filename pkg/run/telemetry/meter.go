package telemetry

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"
	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
)

// Meter sums up measurements. A nil Meter measures nothing.
type Meter struct {
	// Delta makes each collection contain only what was measured since the one before, except for what goes up and down.
	Delta bool

	began, collected time.Time
	instruments      map[string]*instrument
}

// NewMeter returns a Meter that measures from now on.
func NewMeter(now time.Time) *Meter {
	m := &Meter{began: now, collected: now, instruments: map[string]*instrument{}}
	for _, i := range []*instrument{
		{name: runDuration, unit: "s", about: "Duration of a pipeline run grouped by pipeline, state and result.", bounds: longBounds},
		{name: runActive, unit: "{run}", about: "The number of pipeline runs currently active in the system by state.", upDown: true},
		{name: runErrors, unit: "{error}", about: "The number of errors encountered in pipeline runs (eg. compile, test failures)."},
		{name: nodeDuration, unit: "s", about: "Duration of an attempt at a node.", bounds: longBounds},
		{name: modelDuration, unit: "s", about: "GenAI operation duration.", bounds: modelBounds},
		{name: modelTokens, unit: "{token}", about: "Number of input and output tokens used.", bounds: tokenBounds},
		{name: modelCost, unit: "{USD}", about: "What calls of models have cost."},
		{name: callDuration, unit: "s", about: "The duration of the MCP request or notification as observed on the sender from the time it was sent until the response or ack is received.", bounds: callBounds},
	} {
		i.points = map[string]*point{}
		m.instruments[i.name] = i
	}
	return m
}

// The bounds of the histograms. Those of models and calls are what the conventions advise.
var (
	longBounds  = []float64{0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 600, 1800, 3600, 14400}
	modelBounds = []float64{0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}
	tokenBounds = []float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864}
	callBounds  = []float64{0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300}
)

// instrument is a histogram if it has bounds, else a sum.
type instrument struct {
	name, unit, about string
	bounds            []float64
	upDown            bool
	points            map[string]*point
}

// point is what was measured with the same attributes.
type point struct {
	attributes attributes
	began      time.Time
	sum        float64
	count      uint64
	low, high  float64
	buckets    []uint64
}

// maxPoints is the most combinations of attributes of an instrument. All others are one (OpenTelemetry SDK, "Cardinality limits").
const maxPoints = 2000

// add measures a value.
func (m *Meter) add(name string, value float64, a attributes) {
	i := m.instruments[name]
	key := keyOf(a)
	p := i.points[key]
	if p == nil && len(i.points) >= maxPoints-1 {
		a = nil
		a.flag("otel.metric.overflow", true)
		key = keyOf(a)
		p = i.points[key]
	}
	if p == nil {
		p = &point{attributes: a, began: m.collected, low: value, high: value}
		if !m.Delta {
			p.began = m.began
		}
		if i.bounds != nil {
			p.buckets = make([]uint64, len(i.bounds)+1)
		}
		i.points[key] = p
	}
	p.sum += value
	p.count++
	p.low, p.high = min(p.low, value), max(p.high, value)
	if i.bounds != nil {
		at, _ := slices.BinarySearch(i.bounds, value) // a bound belongs to the bucket below it
		p.buckets[at]++
	}
}

func keyOf(a attributes) string {
	var key strings.Builder
	for _, kv := range a {
		key.WriteString(kv.Key)
		key.WriteByte(0)
		key.WriteString(kv.Value.GetStringValue())
		key.WriteByte(0)
	}
	return key.String()
}

// enter counts a run that enters a state, and measures how long it was in the state before. The state after the last one is "".
func (m *Meter) enter(r *run, state string, at time.Time) {
	if m == nil || r.state == state {
		return
	}
	if r.state != "" {
		m.add(runActive, -1, pipelineAttributes(r, r.state))
		a := pipelineAttributes(r, r.state)
		if state == "" {
			a.text(pipelineResult, r.root.result)
			a.text(errorType, r.root.errorType)
		}
		if took := at.Sub(r.entered); took > 0 || state == "" {
			m.add(runDuration, max(0, took.Seconds()), a)
		}
	}
	if state != "" {
		m.add(runActive, 1, pipelineAttributes(r, state))
	}
	r.state, r.entered = state, at
}

func pipelineAttributes(r *run, state string) attributes {
	var a attributes
	a.text(pipelineName, cmp.Or(r.workflow, "unknown"))
	a.text(pipelineState, state)
	return a
}

// failed counts a failure in a run.
func (m *Meter) failed(r *run, kind string) {
	if m == nil {
		return
	}
	a := pipelineAttributes(r, "")
	a.text(errorType, kind)
	m.add(runErrors, 1, a)
}

// attempt measures an attempt at a node that has ended.
func (m *Meter) attempt(r *run, s *span, at time.Time) {
	if m == nil || s.kind.nodeType == "" {
		return
	}
	took := max(0, at.Sub(s.began).Seconds())
	var a attributes
	a.text(pipelineName, cmp.Or(r.workflow, "unknown"))
	a.text(ownType, s.kind.nodeType)
	a.text(taskResult, s.result)
	a.text(errorType, s.errorType)
	m.add(nodeDuration, took, a)
	switch s.kind.operation {
	case mcpCall:
		var a attributes
		a.text(mcpMethod, mcpCall)
		a.text(genOperation, executeTool)
		a.text(genTool, s.kind.target)
		a.text(errorType, s.errorType)
		m.add(callDuration, took, a)
	case chat, invokeAgent:
		a := modelAttributes(s)
		a.text(errorType, s.errorType)
		m.add(modelDuration, took, a)
	}
}

func modelAttributes(s *span) attributes {
	var a attributes
	a.text(genOperation, s.kind.operation)
	a.text(genProvider, cmp.Or(providerOf(s.kind.target), "unknown"))
	a.text(genModel, s.kind.target)
	return a
}

// usage measures the tokens and the cost of a call of a model.
func (m *Meter) usage(s *span, u gjson.Result) {
	if m == nil {
		return
	}
	for _, of := range [][2]string{{"input", "input_tokens"}, {"output", "output_tokens"}} {
		if n := u.Get(of[1]); n.Type == gjson.Number && n.Num >= 0 {
			a := modelAttributes(s)
			a.text(genTokenType, of[0])
			m.add(modelTokens, n.Num, a)
		}
	}
	if cost := u.Get("cost_usd"); cost.Type == gjson.Number && cost.Num >= 0 {
		m.add(modelCost, cost.Num, modelAttributes(s))
	}
}

// Collect returns the metrics that have measurements.
func (m *Meter) Collect(now time.Time) []*metrics.Metric {
	var collected []*metrics.Metric
	for _, name := range slices.Sorted(maps.Keys(m.instruments)) {
		i := m.instruments[name]
		if len(i.points) == 0 {
			continue
		}
		collected = append(collected, i.collect(now, m.Delta && !i.upDown))
		if m.Delta && !i.upDown {
			i.points = map[string]*point{}
		}
	}
	m.collected = now
	return collected
}

func (i *instrument) collect(now time.Time, delta bool) *metrics.Metric {
	temporality := metrics.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE
	if delta {
		temporality = metrics.AggregationTemporality_AGGREGATION_TEMPORALITY_DELTA
	}
	metric := &metrics.Metric{Name: i.name, Unit: i.unit, Description: i.about}
	sum := &metrics.Sum{AggregationTemporality: temporality, IsMonotonic: !i.upDown}
	histogram := &metrics.Histogram{AggregationTemporality: temporality}
	for _, key := range slices.Sorted(maps.Keys(i.points)) {
		p := i.points[key]
		if i.bounds == nil {
			number := &metrics.NumberDataPoint{Attributes: p.attributes, StartTimeUnixNano: nanos(p.began), TimeUnixNano: nanos(now)}
			if number.Value = (&metrics.NumberDataPoint_AsInt{AsInt: int64(p.sum)}); i.name == modelCost {
				number.Value = &metrics.NumberDataPoint_AsDouble{AsDouble: p.sum}
			}
			sum.DataPoints = append(sum.DataPoints, number)
			continue
		}
		histogram.DataPoints = append(histogram.DataPoints, &metrics.HistogramDataPoint{
			Attributes: p.attributes, StartTimeUnixNano: nanos(p.began), TimeUnixNano: nanos(now),
			Count: p.count, Sum: new(p.sum), Min: new(p.low), Max: new(p.high), ExplicitBounds: i.bounds, BucketCounts: slices.Clone(p.buckets),
		})
	}
	metric.Data = &metrics.Metric_Sum{Sum: sum}
	if i.bounds != nil {
		metric.Data = &metrics.Metric_Histogram{Histogram: histogram}
	}
	return metric
}
