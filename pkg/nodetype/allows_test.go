package nodetype

import (
	"encoding/json"
	"testing"
)

func TestParamAllows(t *testing.T) {
	p := Param{Enum: json.RawMessage(`["<a>", 1, {"x": [1.5, null], "y": "é"}, true]`)}
	for value, want := range map[string]bool{
		`"<a>"`: true, `"\u003ca\u003e"`: true, `1`: true, `1.0`: true, `{"y":"\u00e9","x":[15e-1,null]}`: true, `true`: true,
		`"a"`: false, `"1"`: false, `{"x":[1.5,null]}`: false, `false`: false, `null`: false,
	} {
		if p.Allows(json.RawMessage(value)) != want {
			t.Errorf("%s: %v", value, !want)
		}
	}
}
