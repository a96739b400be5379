package nodetype

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pflow-suite/pflow/pkg/fault"
)

func TestDescribed(t *testing.T) {
	got, err := Described("wash", "/bin/pflow-node-wash", []byte(`{"class_name":"x","file_path":"/etc/passwd","interface":{
		"description":" Wash ","params":[{"key":"degrees","type":"int","default": 30,"enum":[30, 60]},{"name":"what","type":"list","required":true,"default":null}],
		"outputs":[{"name":"did","type":"str"}],"actions":["shrunk"],"mcp_metadata":{"server":"a","tool":"b"}}}`))
	want := Type{Name: "wash", Description: "Wash", Program: "/bin/pflow-node-wash", Actions: []string{"shrunk", "default", "error"},
		Params:  []Param{{Name: "degrees", Type: "int", Default: json.RawMessage("30"), Enum: json.RawMessage("[30,60]")}, {Name: "what", Type: "list", Required: true}},
		Outputs: []Output{{Name: "did", Type: "str"}, {Name: "error", Type: "str", Description: "why the node failed; absent if it did not"}}}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("%v\n%s", err, d)
	}
	again := Type{Name: "wash"}
	raw, err := got.MarshalJSON()
	if err == nil {
		err = again.UnmarshalJSON(raw)
	}
	if d := cmp.Diff(got, again); d != "" || err != nil {
		t.Errorf("in the registry: %v\n%s", err, d)
	}
	for answer, open := range map[string]bool{
		`{"interface":{"description":"x"}}`:                                                   true,
		`{"interface":{"description":"x","outputs":[{"name":"a","type":"any"}]}}`:             false,
		`{"interface":{"description":"x","open":true,"outputs":[{"name":"a","type":"any"}]}}`: true,
	} {
		typ, err := Described("x", "/x", []byte(answer))
		raw, _ := typ.MarshalJSON()
		if back := (Type{}); err != nil || typ.ExtraOutputs != open || back.UnmarshalJSON(raw) != nil || back.ExtraOutputs != open {
			t.Errorf("%s: %v %+v", answer, err, typ)
		}
	}
}

func TestDescribedWrongly(t *testing.T) {
	for answer, want := range map[string]string{
		``:                                "It printed nothing",
		`hello`:                           "not one JSON object: hello",
		`[]`:                              "not one JSON object: []",
		`{"interface":{}} {}`:             "not one JSON object",
		`{}`:                              `no object "interface": {}`,
		`{"interface":"x"}`:               `no object "interface"`,
		`{"interface":{}}`:                "There is no description",
		`{"interface":{"description":5}}`: `"description" must be text, not a number`,
		`{"interface":{"description":"x","params":{}}}`:                                                         `"params" must be a list of objects, not an object`,
		`{"interface":{"description":"x","params":[{"name":5,"type":"str"}]}}`:                                  `"name" must be text, not a number`,
		`{"interface":{"description":"x","params":[{"type":"str"}]}}`:                                           "A parameter has no name",
		`{"interface":{"description":"x","params":[{"name":"a"}]}}`:                                             `The parameter "a" has no type`,
		`{"interface":{"description":"x","params":[{"name":"a","type":"Object"}]}}`:                             `Did you mean "dict"?`,
		`{"interface":{"description":"x","params":[{"name":"a b","type":"str"}]}}`:                              `The name of parameter "a b" must have`,
		`{"interface":{"description":"x","params":[{"name":"__a","type":"str"}]}}`:                              "begins with __",
		`{"interface":{"description":"x","params":[{"name":"a","type":"str"},{"name":"a","type":"str"}]}}`:      `two parameters with the name "a"`,
		`{"interface":{"description":"x","params":[{"name":"a","type":"int","default":"x"}]}}`:                  "does not fit its type int",
		`{"interface":{"description":"x","params":[{"name":"a","type":"int","enum":[1,"2"]}]}}`:                 `The enum of parameter "a" has "2"`,
		`{"interface":{"description":"x","params":[{"name":"a","type":"int","enum":7}]}}`:                       "must be a list of values, not 7",
		`{"interface":{"description":"x","params":[{"name":"a","type":"int","enum":[1],"default":2}]}}`:         "which is not in its enum",
		`{"interface":{"description":"x","outputs":[{"name":"a","type":"str"},{"name":"a","type":"nothing"}]}}`: `The type of output "a" is "nothing"`,
		`{"interface":{"description":"x","actions":[""]}}`:                                                      "An action has no name",
		`{"interface":{"description":"x","actions":"full"}}`:                                                    `"actions" must be a list of text, not text`,
	} {
		_, err := Described("x", "/x", []byte(answer))
		f := fault.From(err)
		if f == nil || f.Type != fault.Validation {
			t.Errorf("%s: %+v", answer, f)
			continue
		}
		said := append([]string{f.Message}, f.Suggestions...)
		for _, e := range f.Errors {
			said = append(append(said, e.Message), e.Suggestions...)
		}
		if !slices.ContainsFunc(said, func(s string) bool { return strings.Contains(s, want) }) {
			t.Errorf("%s: %q", answer, said)
		}
	}
}

// FuzzDescribed checks that every answer is a type that can be encoded and decoded, or a fault.
func FuzzDescribed(f *testing.F) {
	f.Add([]byte(`{"interface":{"description":"x","params":[{"name":"a","type":"int","default":1,"enum":[1,2]}],"outputs":[{"key":"b","type":"any"}],"open":true,"actions":["*"]}}`))
	f.Add([]byte(`{"interface":{"params":[null,{"default":{}}],"outputs":[[]]}}`))
	f.Fuzz(func(t *testing.T, answer []byte) {
		typ, err := Described("x", "/x", answer)
		if err != nil {
			return
		}
		raw, err := typ.MarshalJSON()
		back := Type{Name: "x"}
		if err != nil || back.UnmarshalJSON(raw) != nil || !cmp.Equal(typ, back) {
			t.Errorf("%s: %v\n%s", answer, err, cmp.Diff(typ, back))
		}
	})
}
