package source

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
)

func TestParse(t *testing.T) {
	got, err := Parse(json.RawMessage(`[{"name":"crm","list":["a","b"],"run":["c"],"status":["d"],"cancel":["e"],"refresh":"90s"},{"name":"erp","list":["a"],"run":["b"]}]`))
	want := []Source{
		{Name: "crm", List: []string{"a", "b"}, Run: []string{"c"}, Status: []string{"d"}, Cancel: []string{"e"}, Refresh: 90 * time.Second},
		{Name: "erp", List: []string{"a"}, Run: []string{"b"}, Refresh: time.Minute},
	}
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Error(err, d)
	}
	for text, path := range map[string]string{
		`5`: "sources", `[5]`: "sources[0]", `[null]`: "sources[0]", `[{}]`: "sources[0].name", `[{"name":"a/b"}]`: "sources[0].name", `[{"name":5}]`: "sources[0].name",
		`[{"name":"a"}]`: "sources[0].list", `[{"name":"a","list":["x"]}]`: "sources[0].run", `[{"name":"a","run":[]}]`: "sources[0].run", `[{"name":"a","status":"x"}]`: "sources[0].status",
		`[{"name":"a","cancel":[5]}]`: "sources[0].cancel", `[{"name":"a","refresh":60}]`: "sources[0].refresh", `[{"name":"a","refresh":"0s"}]`: "sources[0].refresh",
		`[{"name":"a","list":["x"],"run":["x"]},{"name":"a","list":["x"],"run":["x"]}]`: "sources[1].name", `[{"name":"a","runs":["x"]}]`: "sources[0].runs",
	} {
		_, err := Parse(json.RawMessage(text))
		if f := fault.From(err); f == nil || f.Path != path || f.ExitStatus() != 2 {
			t.Errorf("%s: %+v", text, f)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`[{"name":"crm","list":["a","b"],"run":["c"],"refresh":"90s"}]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		sources, err := Parse(data)
		for _, s := range sources {
			if err == nil && (home.CheckName("source", s.Name) != nil || len(s.List) == 0 || len(s.Run) == 0 || s.Refresh < minRefresh) {
				t.Errorf("%+v", s)
			}
		}
	})
}

func TestLoadAndFind(t *testing.T) {
	h, err := home.Open(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	if sources, err := Load(h); err != nil || sources != nil {
		t.Error(sources, err)
	}
	if err := h.Write([]byte(`{"include":5,"sources":[{"name":"crm","list":["a"],"run":["b"]}]}`), 0o600, ConfigName); err != nil {
		t.Fatal(err)
	}
	if s, err := Find(h, "crm"); err != nil || s.Run[0] != "b" {
		t.Error(s, err)
	}
	for name, near := range map[string]string{"crn": "crm", "warehouse": ""} {
		_, err := Find(h, name)
		if f := fault.From(err); f.Type != fault.NotFound || !slices.Equal(f.Available, []string{"crm"}) || !hints(f, near) {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// hints reports whether the first suggestion of a fault quotes a name, or with "" that it has no suggestion.
func hints(f *fault.Fault, name string) bool {
	if name == "" {
		return len(f.Suggestions) == 0
	}
	return len(f.Suggestions) > 0 && strings.Contains(f.Suggestions[0], strconv.Quote(name))
}

// A key with a typing error is answered with the key that was meant.
func TestTheNearestKeyIsNamed(t *testing.T) {
	for key, near := range map[string]string{"runs": "run", "lst": "list", "refesh": "refresh"} {
		_, err := Parse(json.RawMessage(`[{"name":"a","list":["x"],"run":["x"],"` + key + `":["x"]}]`))
		if f := fault.From(err); f == nil || f.Path != "sources[0]."+key || !hints(f, near) {
			t.Errorf("%s: %+v", key, f)
		}
	}
}

func TestSplit(t *testing.T) {
	for name, want := range map[string]string{"crm:w/1": "crm w/1", "crm:a:b": "crm a:b", "crm:": "", "crm": "", "CRM:x": "", "./a:b": "", "crm:${x}": "", "crm:a\nb": "", "a-b:日本": "a-b 日本"} {
		s, id, ok := Split(name)
		if got := s + " " + id; ok != (want != "") || ok && (got != want || Join(s, id) != name) {
			t.Errorf("%q: %q %q %v", name, s, id, ok)
		}
	}
	if CheckID(strings.Repeat("x", maxID+1)) == nil || CheckID("") == nil {
		t.Error("an id has no limit")
	}
}
