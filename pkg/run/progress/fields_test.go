package progress

import "testing"

func TestFieldsOf(t *testing.T) {
	for schema, want := range map[string]string{
		`{"properties":{"b":{"type":"string"},"a \"x\"":{"type":"integer"}}}`: `{"b": …, "a \"x\"": …}`,
		`{}`: `{}`,
	} {
		if got := fieldsOf([]byte(schema)); got != want {
			t.Errorf("%s: %s", schema, got)
		}
	}
}
