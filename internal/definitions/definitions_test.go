package definitions

import (
	"encoding/json"
	"reflect"
	"testing"
)

func TestDefinitionsAreJSON(t *testing.T) {
	made := Make(1, 2000)
	for _, d := range made {
		if !json.Valid(d.Tool) || !json.Valid(d.Arguments) {
			t.Errorf("%.300s\n%.300s", d.Tool, d.Arguments)
		}
	}
	if !reflect.DeepEqual(made, Make(1, 2000)) {
		t.Error("the same seed makes other definitions")
	}
}
