package engine

import (
	"encoding/json"
	"testing"

	"github.com/tidwall/gjson"
	"pgregory.net/rapid"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

func TestCanonical(t *testing.T) {
	for _, c := range [][2]string{
		{`{ "b": 1, "a": [ 1.0, true, null ] }`, `{"a":[1.0,true,null],"b":1}`},
		{`{"\u0061":"\u0062\/\n"}`, `{"a":"b/\n"}`},
		{`{"a":"\ud800"}`, `{"a":"\"\\ud800\""}`},
		{`{"count":1,"success_count":1,"error_count":0,"errors":[],"results":[],"batch_metadata":{"parallel":true}}`,
			`{"count":1,"error_count":0,"errors":[],"results":[],"success_count":1}`},
		{`{"batch_metadata":{"parallel":true}}`, `{"batch_metadata":{"parallel":true}}`},
	} {
		if got := plain(json.RawMessage(c[0])); got != c[1] {
			t.Errorf("%s becomes %s, not %s", c[0], got, c[1])
		}
	}
}

// Parameters that need not be put into one spelling are in that already.
func TestPlainParametersAreCanonical(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.MapOf(rapid.String(), rapid.OneOf(rapid.Map(rapid.String(), func(s string) any { return s }), rapid.Just[any](1), rapid.Just[any](map[string]any{"x": 1}))).Draw(t, "params")
		params, err := rawjson.Marshal(values)
		if err != nil {
			t.Skip()
		}
		if got := string(canonical(nil, gjson.ParseBytes(params), nil)); isPlain(params) && got != string(params) {
			t.Fatalf("%s becomes %s", params, got)
		}
	})
}
