package settings

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pflow-suite/pflow/pkg/fault"
)

func TestOnlyTheVeryKeysCount(t *testing.T) {
	s, err := parse([]byte(`{"Env": {"A": "1"}, "env": {"B": "2", "b": "3"}, "ENV": 5, "Registry": {"nodes": {"deny": ["*"]}},
		"registry": {"Nodes": {"deny": ["*"]}, "nodes": {"Deny": ["*"], "\u0064eny": ["x"]}}, "Ru\"ntime": 7, "RUNTIME": 7,
		"LLM": 1, "llm": {"Provider": "nobody", "prices": {"Model": {"Input": -1, "input": 2}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Env) != 2 || s.Env["B"] != "2" || s.Env["b"] != "3" || s.Allow != nil || !slices.Equal(s.Deny, []string{"x"}) || s.LLM.Prices["Model"].Input != 2 || s.LLM.Provider != "" {
		t.Errorf("%+v", s)
	}
	_, err = parse([]byte("{\"Env\": {},\n\"env\": {\"A\": 1}}"))
	if f := fault.From(err); f == nil || f.Line != 2 {
		t.Error(f)
	}
}

func TestCoveredCoversEveryValueOfEnv(t *testing.T) {
	for text, want := range map[string]string{
		`{}`:                            `{}`,
		`{"env": {"A": "h", "A": "h"}}`: `{"env":{"A":"#","A":"#"}}`,
		`{"env": {"A": "h"}, "env": {"B":"h"}, "x": [1e400, "a<b", {}, []], "y": null}`:                          `{"env":{"A":"#"},"env":{"B":"#"},"x":[1e400,"a<b",{},[]],"y":null}`,
		`{"Env": {"A": "h", "B": [1, {"C": true}], "D": {}}, "ENV": "h", "\u0065nv": "h", "n": {"env": "kept"}}`: `{"Env":{"A":"#","B":["#",{"C":"#"}],"D":{}},"ENV":"#","env":"#","n":{"env":"kept"}}`,
	} {
		if got := (&Document{[]byte(text)}).Masked("#"); string(got) != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestChangeRefusesAKeyThatStandsTwice(t *testing.T) {
	for text, key := range map[string]string{
		`{"env": {"A": "1", "A": "2"}}`: "A", `{"env": {}, "env": {}}`: "env", `{"llm": {"prices": {"m": {"input": 1, "input": 2}}}}`: "input",
		`{"env": {"A": "1", "a": "1"}, "x": [{"A": 1}, {"A": 1}], "A": 2}`: "",
	} {
		after, changed, err := edited(t, text, func(d *Document) error { return d.Set(json.RawMessage(`"x"`), "env", "NEW") })
		if key == "" {
			if err != nil || !changed {
				t.Error(text, err)
			}
			continue
		}
		if f := fault.From(err); f == nil || f.Type != fault.Validation || !strings.Contains(f.Message, `"`+key+`"`) || cmp.Diff(text, after) != "" {
			t.Errorf("%s: %v, %s", text, err, after)
		}
	}
}

func FuzzCovered(f *testing.F) {
	for _, seed := range []string{`{"env":{"A":"1","A":"2"}}`, `[{"a":[1,{"b":null}]},"x"]`, `"\ud800"`, `{"a":{},"b":[]}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if !json.Valid(text) {
			return
		}
		if got := (&Document{text}).Masked("#"); !json.Valid(got) {
			t.Errorf("%s: %s", text, got)
		}
		if masked := exactKeys(text); !json.Valid(masked) || len(masked) != len(text) {
			t.Errorf("%s: %s", text, masked)
		}
	})
}
