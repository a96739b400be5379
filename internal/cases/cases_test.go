package cases

import (
	"encoding/json"
	"testing"
)

func TestLacks(t *testing.T) {
	for _, test := range []struct{ want, got, why string }{
		{`{}`, `{"a":1}`, ""},
		{`{"a":1}`, `{"a":1.0,"b":2}`, ""},
		{`{"a":{"b":[1,"x"]}}`, `{"a":{"b":[1,"x"],"c":null}}`, ""},
		{`{"a":"{\"x\": 1}"}`, `{"a":"{\"x\":1}"}`, ""},
		{`{"a":"{\"x\": 1}"}`, `{"a":"{\"x\":2}"}`, `outputs.a: want "{\"x\": 1}", got "{\"x\":2}"`},
		{`{"a":1}`, `{}`, "outputs.a is missing"},
		{`{"a":{"b":1}}`, `{"a":{}}`, "outputs.a.b is missing"},
		{`{"a":[1,2]}`, `{"a":[1]}`, "outputs.a: want [1,2], got [1]"},
		{`{"a":[1,2]}`, `{"a":[1,3]}`, "outputs.a[1]: want 2, got 3"},
		{`{"a":1}`, `{"a":"1"}`, `outputs.a: want 1, got "1"`},
		{`{"a":null}`, `{"a":false}`, "outputs.a: want null, got false"},
		{`{"a":{}}`, `{"a":[]}`, "outputs.a: want {}, got []"},
	} {
		if why := Missing(json.RawMessage(test.want), json.RawMessage(test.got)); why != test.why {
			t.Errorf("Missing(%s, %s) = %q, want %q", test.want, test.got, why, test.why)
		}
	}
}
