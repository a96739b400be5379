package template_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

func TestPaths(t *testing.T) {
	for value, want := range map[string]string{
		`1`:                  "${n}=1",
		`{}`:                 "${n}={}",
		`[]`:                 "${n}=[]",
		`{"a":1,"b":[]}`:     "${n.a}=1 ${n.b}=[]",
		`{"a":{"b":{}}}`:     "${n.a.b}={}",
		`{"a b":1,"":2}`:     `${n["a b"]}=1 ${n[""]}=2`,
		`[[1,2],[3]]`:        "${n}=[[1,2],[3]] ${n[0]}=[1,2] ${n[0][0]}=1",
		`[{"k":1},{"l":2}]`:  `${n}=[{"k":1},{"l":2}] ${n[0].k}=1`,
		`{"a":1,"a":2}`:      "${n.a}=1",
		`"{\"k\":[true]}"`:   `${n}="{\"k\":[true]}" ${n.k}=[true] ${n.k[0]}=true`,
		`{"t":"[not json"}`:  `${n.t}="[not json"`,
		`{"é\n":{"x":null}}`: `${n["é\n"].x}=null`,
	} {
		var got []string
		for ref, v := range template.Paths("n", json.RawMessage(value)) {
			got = append(got, ref.String()+"="+string(v))
			whole, reason := template.Lookup(ref, func(template.Ref) (json.RawMessage, template.Availability) {
				return json.RawMessage(value), template.Present
			})
			if reason != "" || string(whole) != string(v) {
				t.Errorf("%s in %s: %s %s", ref, value, whole, reason)
			}
			if parsed, ok := template.ParseExpression(ref.Expression()); !ok || parsed.String() != ref.String() {
				t.Errorf("%s is no reference", ref)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %s, want %s", value, strings.Join(got, " "), want)
		}
	}
	deep := strings.Repeat("[", 500) + strings.Repeat("]", 500)
	n := 0
	for range template.Paths("n", json.RawMessage(deep)) {
		n++
	}
	if n != 101 {
		t.Errorf("%d places", n)
	}
}
