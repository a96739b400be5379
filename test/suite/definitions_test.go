package suite

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/internal/definitions"
	"github.com/pflow-suite/pflow/internal/hostilemcp"
)

// giveTools configures a server with the tools of the definitions.
func (p *place) giveTools(server string, made []definitions.Definition) {
	p.Helper()
	tools := make([]string, len(made))
	for i, d := range made {
		tools[i] = string(d.Tool)
	}
	folder := filepath.Dir(p.write("given/"+server+"/"+hostilemcp.GivenTools, "["+strings.Join(tools, ",")+"]"))
	p.must("pflow-sync", "add", server, "--", filepath.Join(testPrograms, "hostilemcp"), hostilemcp.Given, "tools/list", folder)
}

// Tools whose definitions have JSON Schemas of any dialect, odd ones and broken ones, are registered, can be described, checked and called
// with their arguments as they are.
func TestToolsOfAnyDefinition(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	const servers = 10
	each := 500
	if testing.Short() {
		each = 30
	}
	byType := map[string]definitions.Definition{}
	for i := range servers {
		p.giveTools(fmt.Sprint("s", i), definitions.Make(uint64(i), each))
	}
	out := p.must("pflow-sync", "sync", "--all", "--quiet")
	if n := int(gjson.Get(out, "tools_registered").Int()); n != servers*each {
		t.Fatalf("%d tools are registered: %.2000s", n, out)
	}
	for i := range servers {
		made := map[string]definitions.Definition{}
		for _, d := range definitions.Make(uint64(i), each) {
			made[d.Name] = d
		}
		for line := range strings.Lines(p.must("pflow-sync", "tools", fmt.Sprint("s", i))) {
			byType[gjson.Get(line, "node_type").Str] = made[gjson.Get(line, "tool").Str]
		}
	}
	types := slices.Sorted(maps.Keys(byType))
	for some := range slices.Chunk(types, 500) {
		p.callTools(some, byType)
	}
	for i := 0; i < len(types); i += each / 2 {
		d := byType[types[i]]
		if o := p.run("pflow-lib", "describe", types[i], "--format", "json"); o.exit != 0 || !json.Valid([]byte(o.stdout)) {
			t.Errorf("describe %s, %s: %s", types[i], d.Tool, o)
		}
	}
	if o := p.run("pflow-lib", "search", "検索する текст emoji page", "--format", "json", "--max-bytes", "8000"); o.exit != 0 || len(o.stdout) > 8001 {
		t.Errorf("search: %.2000s", o)
	}
}

// callTools checks and runs a workflow that calls all tools.
func (p *place) callTools(types []string, byType map[string]definitions.Definition) {
	p.Helper()
	var w struct {
		Nodes []map[string]any `json:"nodes"`
	}
	for i, name := range types {
		w.Nodes = append(w.Nodes, map[string]any{"id": fmt.Sprint("n", i), "type": name, "params": byType[name].Arguments})
	}
	source, err := json.Marshal(w)
	if err != nil {
		p.Fatal(err)
	}
	p.write("w.json", string(source))
	if o := p.run("pflow-lib", "check", "w.json"); o.exit != 0 {
		p.Errorf("check: %.3000s", o)
		return
	}
	p.must("pflow-exec", "run", "w.json", "--quiet")
	called := 0
	for line := range strings.Lines(p.must("pflow-exec", "events", "last", "--inline")) {
		e := gjson.Parse(line)
		if e.Get("event").Str != "node_completed" {
			continue
		}
		called++
		var i int
		_, _ = fmt.Sscanf(e.Get("node").Str, "n%d", &i)
		sent, d := e.Get("outputs.result"), byType[types[i]]
		if sent.Get("name").Str != d.Name || !sameValue(sent.Get("arguments").Raw, string(d.Arguments)) {
			p.Errorf("%s, %.2000s\nsent %s\nnot  %s", types[i], d.Tool, sent.Raw, d.Arguments)
		}
	}
	if called != len(types) {
		p.Errorf("%d of %d tools were called", called, len(types))
	}
}

// sameValue reports whether two JSON texts have the same values, with numbers spelled alike. A key of the stream with a dollar sign at
// its beginning has another one.
func sameValue(stored, sent string) bool {
	normal := func(text string) []byte {
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		var v any
		if d.Decode(&v) != nil {
			return []byte(text)
		}
		b, _ := json.Marshal(v)
		return b
	}
	return bytes.Equal(bytes.ReplaceAll(normal(stored), []byte(`"$$`), []byte(`"$`)), normal(sent))
}
