package otlp

import (
	"encoding/base64"
	"encoding/hex"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	logs "go.opentelemetry.io/proto/otlp/logs/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
)

// JSON returns a batch in the JSON encoding of OTLP: protobuf's own, except that enumerations are numbers, and the ids of traces and
// spans are hexadecimal (OTLP, "JSON Protobuf Encoding").
func JSON(b Batch) ([]byte, error) {
	b = proto.Clone(b)
	switch b := b.(type) {
	case *trace.TracesData:
		for _, r := range b.ResourceSpans {
			for _, s := range r.ScopeSpans {
				for _, span := range s.Spans {
					hexadecimal(&span.TraceId, &span.SpanId, &span.ParentSpanId)
					for _, link := range span.Links {
						hexadecimal(&link.TraceId, &link.SpanId)
					}
				}
			}
		}
	case *logs.LogsData:
		for _, r := range b.ResourceLogs {
			for _, s := range r.ScopeLogs {
				for _, record := range s.LogRecords {
					hexadecimal(&record.TraceId, &record.SpanId)
				}
			}
		}
	}
	return protojson.MarshalOptions{UseEnumNumbers: true}.Marshal(b)
}

// hexadecimal replaces ids by the bytes whose base64 text, which protojson writes, is the id in hexadecimal digits. The digits of an id
// of 8 or 16 bytes are valid base64 without padding.
func hexadecimal(ids ...*[]byte) {
	for _, id := range ids {
		if b, err := base64.StdEncoding.DecodeString(hex.EncodeToString(*id)); err == nil && len(*id) > 0 {
			*id = b
		}
	}
}
