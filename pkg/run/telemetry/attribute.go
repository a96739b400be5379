package telemetry

import (
	"strings"
	"unicode/utf8"

	common "go.opentelemetry.io/proto/otlp/common/v1"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// maxValue is the most bytes of the text of an attribute.
const maxValue = 4096

// attributes are built up in order; what is empty is left out.
type attributes []*common.KeyValue

func (a *attributes) add(key string, value *common.AnyValue) {
	*a = append(*a, &common.KeyValue{Key: key, Value: value})
}

func (a *attributes) text(key, value string) {
	if value != "" {
		a.add(key, textValue(value))
	}
}

func (a *attributes) integer(key string, value int64) {
	a.add(key, &common.AnyValue{Value: &common.AnyValue_IntValue{IntValue: value}})
}

func (a *attributes) number(key string, value float64) {
	a.add(key, &common.AnyValue{Value: &common.AnyValue_DoubleValue{DoubleValue: value}})
}

func (a *attributes) flag(key string, value bool) {
	if value {
		a.add(key, &common.AnyValue{Value: &common.AnyValue_BoolValue{BoolValue: true}})
	}
}

func textValue(text string) *common.AnyValue {
	return &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: valid(text)}}
}

// valid returns a text of a limited length that is UTF-8, as protobuf requires.
func valid(text string) string {
	text = fault.Truncate(text, maxValue)
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\uFFFD")
	}
	return text
}
