package settings

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
)

// load reads settings with the given text. An empty text stands for a missing file.
func load(t *testing.T, text string) (*Settings, error) {
	t.Helper()
	h, err := home.Open(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	if text != "" {
		if err := os.WriteFile(h.Path(File), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return Load(h)
}

func TestLoad(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		want Settings
	}{
		"missing": {"", Settings{}},
		"empty":   {"{}", Settings{}},
		"upstream": {`{"version":"1.0.0","registry":{"nodes":{"allow":["*"],"deny":["pflow.nodes.git.*"]},"include_test_nodes":false},
			"runtime":{"template_resolution_mode":"permissive"},"llm":{"default_model":null},"env":{"TOKEN":"x"}}`,
			Settings{Env: map[string]string{"TOKEN": "x"}, Allow: []string{"*"}, Deny: []string{"pflow.nodes.git.*"}, TemplateResolutionMode: "permissive"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := load(t, tt.text)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(&tt.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestABrokenFileIsNamedWithItsLine(t *testing.T) {
	for name, tt := range map[string]struct {
		text, message string
		line          int
	}{
		"syntax":      {"{\n  \"env\": {\n    \"A\": \"hush\",\n  }\n}", "Invalid JSON in settings.json: invalid character '}'", 4},
		"cut short":   {"{\n\"env\": {", "Invalid JSON in settings.json: unexpected end", 2},
		"not text":    {"{\n\"env\": {\n\"PIN\": 123456}}", "settings.json: env.PIN must be text, not a number", 3},
		"not object":  {"[1]", "settings.json must be an object, not a list", 1},
		"env list":    {"{\"env\": []}", "settings.json: env must be an object, not a list", 1},
		"vars":        {`{"vars": {"a": "b", "c": null, "d": []}}`, "settings.json: vars.d must be text, not a list", 1},
		"registry":    {`{"registry": "x"}`, "settings.json: registry must be an object, not text", 1},
		"nodes":       {`{"registry": {"nodes": []}}`, "settings.json: registry.nodes must be an object, not a list", 1},
		"allow":       {`{"registry": {"nodes": {"allow": "*"}}}`, "settings.json: registry.nodes.allow must be a list of texts, not text", 1},
		"deny":        {`{"registry": {"nodes": {"deny": ["a", "b", {}]}}}`, "settings.json: registry.nodes.deny[2] must be text, not an object", 1},
		"runtime":     {`{"runtime": 1}`, "settings.json: runtime must be an object, not a number", 1},
		"degraded":    {`{"runtime": {"fail_degraded": "yes"}}`, "settings.json: runtime.fail_degraded must be true or false, not text", 1},
		"llm":         {`{"llm": true}`, "settings.json: llm must be an object, not true or false", 1},
		"prices":      {`{"llm": {"prices": {"a.b": 3}}}`, `settings.json: llm.prices["a.b"] must be an object, not a number`, 1},
		"price":       {`{"llm": {"prices": {"a": {"input": 1, "cache_read": "x"}}}}`, "settings.json: llm.prices.a.cache_read must be a number, not text", 1},
		"large":       {`{"llm": {"prices": {"a": {"input": 1e999}}}}`, "settings.json: llm.prices.a.input must be a number, not one out of range", 1},
		"bad pattern": {`{"registry":{"nodes":{"deny":["ok","[x"]}}}`, `"[x"`, 0},
		"mode":        {`{"runtime":{"template_resolution_mode":"lax"}}`, "must be strict or permissive", 0},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := load(t, tt.text)
			f := fault.From(err)
			if f == nil || f.Type != fault.Validation || f.File != File || f.Line != tt.line || !strings.Contains(f.Message, tt.message) {
				t.Errorf("got %+v", f)
			}
			if name == "bad pattern" && f.Path != "registry.nodes.deny[1]" {
				t.Errorf("the path is %q", f.Path)
			}
			if f != nil && (strings.Contains(f.Error(), "hush") || strings.Contains(f.Error(), "123456")) {
				t.Errorf("the message repeats a value: %s", f)
			}
		})
	}
}

func TestAllowed(t *testing.T) {
	for name, tt := range map[string]struct {
		settings Settings
		want     map[string]bool
	}{
		"default": {Settings{}, map[string]bool{"shell": true, "mcp-git-log": true}},
		"deny":    {Settings{Deny: []string{"mcp-git-*", "shell"}}, map[string]bool{"shell": false, "mcp-git-log": false, "mcp-github-x": true}},
		"allow":   {Settings{Allow: []string{"read-*"}}, map[string]bool{"read-file": true, "shell": false}},
		"both":    {Settings{Allow: []string{"*"}, Deny: []string{"h?tp"}}, map[string]bool{"http": false, "echo": true}},
		"none":    {Settings{Allow: []string{}}, map[string]bool{"echo": false}},
	} {
		for typ, want := range tt.want {
			if got := tt.settings.Allowed(typ); got != want {
				t.Errorf("%s: Allowed(%s) = %v", name, typ, got)
			}
		}
	}
	if (&Settings{Deny: []string{"mcp-fs-read_*"}}).Allowed("mcp-fs-read-text", "mcp-fs-read_text") {
		t.Error("a pattern for another name of the type does not deny it")
	}
	if !(&Settings{Allow: []string{"mcp-fs-read_*"}}).Allowed("mcp-fs-read-text", "mcp-fs-read_text") {
		t.Error("a pattern for another name of the type does not allow it")
	}
}
