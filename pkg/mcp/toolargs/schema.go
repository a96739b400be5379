package toolargs

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
)

// Schema is a JSON Schema that is read once, when it is first needed. It may be used by several callers at a time, and
// not be copied.
type Schema struct {
	document json.RawMessage

	once     sync.Once
	schema   *jsonschema.Schema
	resolved *jsonschema.Resolved
	err      error
}

// NewSchema makes a Schema of a JSON Schema document.
func NewSchema(document json.RawMessage) *Schema { return &Schema{document: document} }

// Fits says whether a document fits. Nothing fits a schema that is none.
func (s *Schema) Fits(document json.RawMessage) bool {
	if s.compile() != nil {
		return false
	}
	value, err := decode(document)
	return err == nil && s.resolved.Validate(value) == nil
}

func (s *Schema) compile() error {
	s.once.Do(func() {
		if s.err = json.Unmarshal(s.document, &s.schema); s.err == nil {
			s.resolved, s.err = s.schema.Resolve(nil)
		}
	})
	return s.err
}

// decode gives a document as the library that checks it wants it. A number beyond what a float64 holds becomes the
// greatest that it does, which is on the same side of any limit that a schema can set.
func decode(document json.RawMessage) (any, error) {
	var value any
	if err := json.Unmarshal(document, &value); err == nil || !json.Valid(document) {
		return value, err
	}
	numbers := json.NewDecoder(bytes.NewReader(document))
	numbers.UseNumber()
	if err := numbers.Decode(&value); err != nil {
		return nil, err
	}
	return floats(value), nil
}

// floats turns the numbers of a decoded document, in place, into what they are without UseNumber.
func floats(value any) any {
	switch value := value.(type) {
	case json.Number:
		f, err := value.Float64()
		if err != nil {
			return math.Copysign(math.MaxFloat64, sign(value))
		}
		return f
	case []any:
		for i := range value {
			value[i] = floats(value[i])
		}
	case map[string]any:
		for name := range value {
			value[name] = floats(value[name])
		}
	}
	return value
}

func sign(n json.Number) float64 {
	if strings.HasPrefix(n.String(), "-") {
		return -1
	}
	return 1
}
