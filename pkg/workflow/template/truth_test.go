package template

import (
	"encoding/json"
	"testing"
)

func TestTruth(t *testing.T) {
	for raw, want := range map[string]bool{
		"true": true, "1": true, "-1": true, "0.5": true, "1e400": true, `"yes"`: true, `"0.0"`: true, `"{}"`: true, "[null]": true, `{"":0}`: true,
		"false": false, "null": false, "0": false, "-0": false, "0.0e5": false, `""`: false, `" No\n"`: false, `"FALSE"`: false, `"0"`: false, `"null"`: false, "[]": false, "{ }": false, "": false,
	} {
		if Truth(json.RawMessage(raw)) != want {
			t.Errorf("Truth(%s) is not %v", raw, want)
		}
	}
}
