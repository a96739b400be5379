package settings

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
)

// edited returns settings.json after a change. An empty text stands for a missing file.
func edited(t testing.TB, before string, edit func(*Document) error) (after string, changed bool, err error) {
	t.Helper()
	h, openErr := home.Open(filepath.Join(t.TempDir(), "home"), "")
	if openErr != nil {
		t.Fatal(openErr)
	}
	if before != "" {
		if err := h.Write([]byte(before), 0o644, File); err != nil {
			t.Fatal(err)
		}
	}
	changed, err = Change(t.Context(), h, edit)
	b, readErr := h.Read(File)
	if readErr != nil {
		t.Fatal(readErr)
	}
	if info, statErr := os.Stat(h.Path(File)); changed && (statErr != nil || info.Mode().Perm() != 0o600) {
		t.Errorf("%v %v", info.Mode(), statErr)
	}
	return string(b), changed, err
}

func TestChange(t *testing.T) {
	token := func(d *Document) error { return d.Set(json.RawMessage(`"x"`), "env", "TOKEN") }
	for name, c := range map[string]struct {
		before string
		edit   func(*Document) error
		after  string
	}{
		"a first one":  {"", token, "{\n  \"env\": {\n    \"TOKEN\": \"x\"\n  }\n}\n"},
		"digits":       {"", func(d *Document) error { return d.Set(json.RawMessage(`1`), "llm", "prices", "0", "input") }, "{\n  \"llm\": {\n    \"prices\": {\n      \"0\": {\n        \"input\": 1\n      }\n    }\n  }\n}\n"},
		"dots":         {"", func(d *Document) error { return d.Set(json.RawMessage(`{}`), "llm", "prices", "gpt-4.1*") }, "{\n  \"llm\": {\n    \"prices\": {\n      \"gpt-4.1*\": {}\n    }\n  }\n}\n"},
		"by hand":      {`{ "other" : [1,  2] , "env":{"A":"1"} }`, token, `{ "other" : [1,  2] , "env":{"A":"1","TOKEN":"x"} }`},
		"replaced":     {`{"env" : {"TOKEN": "y" , "B":"2"}}`, token, `{"env" : {"TOKEN": "x" , "B":"2"}}`},
		"null":         {`{"env":null}`, token, `{"env":{"TOKEN":"x"}}`},
		"taken out":    {`{"env": {"TOKEN":"y", "B":"2"}, "z":0}`, func(d *Document) error { d.Delete("env", "TOKEN"); return nil }, `{"env": { "B":"2"}, "z":0}`},
		"not there":    {`{"a": 1}`, func(d *Document) error { d.Delete("env", "TOKEN"); return nil }, `{"a": 1}`},
		"all":          {`{"a": 1}`, func(d *Document) error { d.Clear(); return nil }, "{}"},
		"the same":     {`{"env" : {"TOKEN":"x"}}`, token, `{"env" : {"TOKEN":"x"}}`},
		"no such list": {`{"registry":{}}`, func(d *Document) error { return d.Set(json.RawMessage(`["a"]`), "registry", "nodes", "deny") }, `{"registry":{"nodes":{"deny":["a"]}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			after, changed, err := edited(t, c.before, c.edit)
			if err != nil || changed != (c.before != c.after) {
				t.Errorf("%v %v", changed, err)
			}
			if strings.Join(strings.Fields(after), " ") != strings.Join(strings.Fields(c.after), " ") || c.before == "" && after != c.after {
				t.Errorf("%s\nwant\n%s", after, c.after)
			}
		})
	}
}

func TestAChangeThatIsRefusedWritesNothing(t *testing.T) {
	why := errors.New("no")
	for name, c := range map[string]struct {
		before string
		edit   func(*Document) error
	}{
		"its own error":  {`{"a":1}`, func(d *Document) error { d.Clear(); return why }},
		"no settings":    {`{"a":1}`, func(d *Document) error { return d.Set(json.RawMessage(`"lax"`), "runtime", "template_resolution_mode") }},
		"not an object":  {`{"other":"hush"}`, func(d *Document) error { return d.Set(json.RawMessage(`1`), "other", "x") }},
		"broken already": {`{"env":`, func(d *Document) error { d.Clear(); return nil }},
	} {
		t.Run(name, func(t *testing.T) {
			after, changed, err := edited(t, c.before, c.edit)
			if err == nil || changed || after != c.before || strings.Contains(err.Error(), "hush") {
				t.Errorf("%s %v %v", after, changed, err)
			}
		})
	}
}

func TestChangesAtTheSameTimeLoseNothing(t *testing.T) {
	h, err := home.Open(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i := range 10 {
		all.Go(func() {
			if _, err := Change(t.Context(), h, func(d *Document) error { return d.Set(json.RawMessage(`"x"`), "env", fmt.Sprint("N", i)) }); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if s, err := Load(h); err != nil || len(s.Env) != 10 {
		t.Errorf("%+v %v", s, err)
	}
}

// A value that was set can be read, and everything else is unchanged.
func TestAChangeTouchesNothingElse(t *testing.T) {
	key := rapid.SampledFrom([]string{"a", "a.b", "0", "-1", "*", "x?", "#", "@this", "ü", "a|b", `q"\`, "!", "{", "[", "~", ":1", ":"})
	rapid.Check(t, func(t *rapid.T) {
		text := "{}"
		want := map[string]map[string]string{}
		d := &Document{[]byte(text)}
		for range rapid.IntRange(1, 6).Draw(t, "steps") {
			group, name := key.Draw(t, "group"), key.Draw(t, "name")
			if rapid.IntRange(0, 3).Draw(t, "what") == 0 {
				_, there := want[group][name]
				if d.Delete(group, name) != there {
					t.Fatalf("delete %q %q of %s", group, name, d.text)
				}
				delete(want[group], name)
				continue
			}
			value := rapid.StringMatching(`[a-z]{0,3}`).Draw(t, "value")
			if err := d.Set(json.RawMessage(`"`+value+`"`), group, name); err != nil {
				t.Fatal(err)
			}
			if want[group] == nil {
				want[group] = map[string]string{}
			}
			want[group][name] = value
		}
		var got map[string]map[string]string
		if err := json.Unmarshal(d.text, &got); err != nil {
			t.Fatalf("%s: %v", d.text, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s: %s", d.text, diff)
		}
	})
}

func TestJudge(t *testing.T) {
	for _, c := range []struct {
		settings Settings
		name     string
		want     Verdict
	}{
		{Settings{}, "x", Verdict{Allowed: true}},
		{Settings{Deny: []string{"a", "x*"}}, "xy", Verdict{false, "deny", "x*"}},
		{Settings{Deny: []string{"a"}}, "xy", Verdict{Allowed: true}},
		{Settings{Allow: []string{"a", "x*"}}, "xy", Verdict{true, "allow", "x*"}},
		{Settings{Allow: []string{"a"}}, "xy", Verdict{false, "allow", ""}},
		{Settings{Allow: []string{"*"}, Deny: []string{"xy"}}, "xy", Verdict{false, "deny", "xy"}},
	} {
		if got := c.settings.Judge(c.name); got != c.want {
			t.Errorf("%+v: %+v, want %+v", c.settings, got, c.want)
		}
	}
}

func TestKeyPath(t *testing.T) {
	for name, want := range map[string]int{"llm.default_model": 2, "llm.prices": 2, "llm.prices.gpt-4.1": 3, "runtime.template_resolution_mode": 2} {
		if path, _, err := KeyPath(name); err != nil || len(path) != want {
			t.Errorf("%s: %v %v", name, path, err)
		}
	}
	for name, hint := range map[string]string{"llm.defaultmodel": "llm.default_model", "env.X": "set-env", "registry.nodes.deny": "deny PATTERN", "": ""} {
		_, _, err := KeyPath(name)
		f := fault.From(err)
		if f != nil {
			f.Address(fault.Shell)
		}
		if f == nil || f.Type != fault.Usage || !strings.Contains(strings.Join(f.Suggestions, " "), hint) || len(f.Available) == 0 {
			t.Errorf("%s: %+v", name, f)
		}
	}
	if _, err := (Key{JSON: true}).Value("{"); err == nil {
		t.Error("what is no JSON is taken")
	}
}
