package telemetry

import (
	"time"

	logs "go.opentelemetry.io/proto/otlp/logs/v1"

	"github.com/pflow-suite/pflow/pkg/event"
)

const (
	infoSeverity  = logs.SeverityNumber_SEVERITY_NUMBER_INFO
	warnSeverity  = logs.SeverityNumber_SEVERITY_NUMBER_WARN
	errorSeverity = logs.SeverityNumber_SEVERITY_NUMBER_ERROR
)

// severityText returns the word for a severity.
func severityText(s logs.SeverityNumber) string {
	switch s {
	case errorSeverity:
		return "ERROR"
	case warnSeverity:
		return "WARN"
	}
	return "INFO"
}

// log records what an event of a node says, in the span of the node.
func (t *Translator) log(r *run, e *event.Event, severity logs.SeverityNumber, name, text string) {
	if text == "" {
		return
	}
	id := r.root.SpanId
	if s := r.open[e.Node]; s != nil {
		id = s.SpanId
	}
	t.record(r, id, e.Time, severity, name, text, nodeAttributes(e))
}

// record sends a log record of a run.
func (t *Translator) record(r *run, span []byte, at time.Time, severity logs.SeverityNumber, name, text string, of attributes) {
	if t.Record == nil {
		return
	}
	var a attributes
	a.text(pipelineName, r.workflow)
	a.text(pipelineRun, r.id)
	t.Record(&logs.LogRecord{
		TimeUnixNano: nanos(at), ObservedTimeUnixNano: nanos(at), SeverityNumber: severity, SeverityText: severityText(severity), EventName: name,
		Body: textValue(text), Attributes: append(a, of...), TraceId: r.trace, SpanId: span, Flags: 1,
	})
}

// refused records a run that was refused: it has no id and no span.
func (t *Translator) refused(e *event.Event) {
	text, kind := "A run was refused", "_OTHER"
	if e.Error != nil {
		text, kind = e.Error.Message, string(e.Error.Type)
	}
	if t.Record != nil {
		t.Record(&logs.LogRecord{
			TimeUnixNano: nanos(e.Time), ObservedTimeUnixNano: nanos(e.Time), SeverityNumber: errorSeverity, SeverityText: severityText(errorSeverity),
			EventName: "pflow.run.refused", Body: textValue(text), Attributes: errorAttributes(kind),
		})
	}
	t.Meter.failed(&run{}, kind)
}

func nodeAttributes(e *event.Event) attributes {
	var a attributes
	a.text(taskName, event.GenericPath(e.Node))
	if e.Node != event.GenericPath(e.Node) {
		a.text(ownNode, e.Node)
	}
	if e.Item != nil {
		a.integer(ownItem, int64(*e.Item))
	}
	return a
}

func errorAttributes(kind string) attributes {
	var a attributes
	a.text(errorType, kind)
	return a
}
