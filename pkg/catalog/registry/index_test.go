package registry

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pflow-suite/pflow/pkg/catalog/stored"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// indexed returns a registry that has an index at any size. With settled it takes its files for old.
func indexed(h *home.Home, settled bool) *Registry {
	r := Open(h)
	r.leastIndexed = 1
	if settled {
		r.now = func() time.Time { return time.Now().Add(time.Hour) }
	}
	return r
}

// answers returns the results of a registry's methods, as text.
func answers(r *Registry, names []string) string {
	var b strings.Builder
	say := func(v any, err error) {
		raw, _ := json.Marshal(v)
		fmt.Fprintf(&b, "%s %v\n", raw, err)
	}
	for _, name := range names {
		t, ok, err := r.Type(name)
		say([]any{t.Name, t, ok}, err)
	}
	types, err := r.Types()
	for _, t := range types {
		say([]any{t.Name, t}, nil)
	}
	say(nil, err)
	all, err := r.Names()
	say(all, err)
	tools, err := r.MCPTools("s")
	say(tools, err)
	for _, query := range []string{"raed file", "s", "two words", ""} {
		found, total, err := r.Search(query, 0, 5)
		for _, m := range found {
			say([]any{m.Type.Name, m.Score}, nil)
		}
		say(total, err)
	}
	return b.String()
}

// source draws a registry.json of either shape.
func source(t *rapid.T) (text string, names []string) {
	nodes := map[string]any{}
	for range rapid.IntRange(0, 8).Draw(t, "entries") {
		tool := rapid.SampledFrom([]string{"read_file", "read-file", "Read File", "two words", "ü\"x"}).Draw(t, "tool")
		server := rapid.SampledFrom([]string{"s", "s-t", ""}).Draw(t, "server")
		name := rapid.SampledFrom([]string{"mcp-s-" + tool, "mcp-s-t-read-file", "other", "shell", "nodes", "a\tb", tool}).Draw(t, "name")
		module := rapid.SampledFrom([]string{"pflow.nodes.x", "someone", ""}).Draw(t, "module")
		face := map[string]any{"description": rapid.SampledFrom([]string{"", "Reads a file", "<&> é"}).Draw(t, "description"),
			"params": []any{map[string]any{rapid.SampledFrom([]string{"name", "key"}).Draw(t, "key"): "path", "type": "str"}}}
		if server != "" {
			face["mcp_metadata"] = map[string]any{"server": server, "tool": tool}
		}
		nodes[name] = map[string]any{"module": module, "interface": face}
		names = append(names, name, "mcp-"+server+"-"+tool, nodetype.MCPName(server, tool))
	}
	var doc any = map[string]any{"version": "1", "nodes": nodes, "more": []int{1}}
	if rapid.Bool().Draw(t, "flat") {
		nodes["__metadata__"] = map[string]any{"x": 1}
		doc = nodes
	}
	raw, _ := json.Marshal(doc)
	if rapid.Bool().Draw(t, "indented") {
		var b bytes.Buffer
		_ = json.Indent(&b, raw, "", "\t")
		raw = b.Bytes()
	}
	return string(raw), append(names, "http", "none", "mcp-s-none")
}

// one returns a registry with a type of that description. For descriptions of fewer than ten bytes all registries have the same
// size, but the places in them differ.
func one(description string) string {
	return `{"nodes":{"all":{"module":"` + strings.Repeat("m", 10-len(description)) + `"},"one":{"module":"x","interface":{"description":"` + description + `"}}}}`
}

// A change by hand is seen, even right after the index was stored and with any file times.
func TestAnEditIsSeen(t *testing.T) {
	_, h := open(t, map[string]string{fileName: one("a")})
	path := h.Path(fileName)
	old := time.Now().Add(-time.Hour)
	for i := range 50 {
		want := strings.Repeat("d", 1+i%7)
		switch i % 3 {
		case 0: // in place
			if err := os.WriteFile(path, []byte(one(want)), 0o600); err != nil {
				t.Fatal(err)
			}
		case 1: // in place, with the times of before
			if err := os.WriteFile(path, []byte(one(want)), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(path, old, old); err != nil {
				t.Fatal(err)
			}
		case 2: // another file in its place
			if err := h.Write([]byte(one(want)), 0o600, fileName); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 {
			if typ, ok, err := indexed(h, false).Type("one"); !ok || err != nil || typ.Description != want {
				t.Fatalf("step %d: %q %v %v, want %q", i, typ.Description, ok, err, want)
			}
		}
	}
}

// No index is stored in the tick of the clock in which the file was written, because a further change in that tick leaves the
// times as they are.
func TestAnIndexOfTheSameTickIsNotTrusted(t *testing.T) {
	_, h := open(t, map[string]string{fileName: one("before")})
	if _, _, err := indexed(h, false).Type("one"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(h.Path(fileName), []byte(one("now")), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(h.Path(indexName)); !os.IsNotExist(err) {
		t.Errorf("an index is stored: %v", err)
	}
	if typ, ok, err := indexed(h, true).Type("one"); !ok || err != nil || typ.Description != "now" {
		t.Errorf("%q %v %v", typ.Description, ok, err)
	}
}

// A reader that has loaded the index sees a later change, too.
func TestAnOpenRegistrySeesAChange(t *testing.T) {
	_, h := open(t, map[string]string{fileName: one("a")})
	if _, _, err := indexed(h, true).Type("one"); err != nil {
		t.Fatal(err)
	}
	r := indexed(h, true)
	for _, want := range []string{"a", "bb"} {
		if want == "bb" {
			if err := os.WriteFile(h.Path(fileName), []byte(one(want)), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if typ, ok, err := r.Type("one"); !ok || err != nil || typ.Description != want {
			t.Errorf("%q %v %v", typ.Description, ok, err)
		}
	}
}

// A file that is changed in place while it is read through its index is read again.
func TestAChangeWhileReading(t *testing.T) {
	_, h := open(t, map[string]string{fileName: one("a")})
	if _, _, err := indexed(h, true).Type("one"); err != nil {
		t.Fatal(err)
	}
	var seen []string
	err := indexed(h, true).read(func(s *snapshot) error {
		if seen == nil {
			if err := os.WriteFile(h.Path(fileName), []byte(one("bb")+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		entry, _ := s.find("one")
		typ, err := s.typeOf(entry)
		seen = append(seen, typ.Description)
		return err
	})
	if err != nil || len(seen) != 2 || seen[1] != "bb" {
		t.Errorf("%q %v", seen, err)
	}
}

// headSize is a few bytes more than the head of an index has.
const headSize = 128

// reseal gives a changed index the checksum that fits it.
func reseal(index string) string {
	return string(stored.Seal([]byte(index)[:len(index)-crc32.Size]))
}

// An index that is damaged or has another layout is not used, and is stored again.
func TestADamagedIndexIsMadeAnew(t *testing.T) {
	_, h := open(t, map[string]string{fileName: upstreamFlat})
	names := []string{"resize", "mcp-fs-read-text-file"}
	want := answers(Open(h), names)
	answers(indexed(h, true), names)
	good := content(t, h, indexName)
	if good == "" {
		t.Fatal("there is no index")
	}
	damage := map[string]string{"empty": "", "cut": good[:len(good)-1], "long": good + "x", "text": "{}", "head": good[:headSize],
		"other layout": reseal(strings.Replace(good, fmt.Sprint(layout), fmt.Sprint(layout+1), 1))}
	for i := 0; i < len(good); i += 1 + i/headSize*6 { // all of the head
		b := []byte(good)
		b[i] ^= 0x41
		damage[fmt.Sprintf("byte %d", i)] = string(b)
	}
	for name, bad := range damage {
		if err := os.WriteFile(h.Path(indexName), []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, answers(indexed(h, true), names)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if content(t, h, indexName) != good {
			t.Errorf("%s: the index was not made anew", name)
		}
	}
}

func TestAHomeThatCannotBeWritten(t *testing.T) {
	_, h := open(t, map[string]string{fileName: upstreamFlat})
	if err := os.Mkdir(h.Path(indexName), 0o700); err != nil { // so that it also fails for root
		t.Fatal(err)
	}
	if typ, ok, err := indexed(h, true).Type("resize"); !ok || err != nil || typ.Description != "Resize an image" {
		t.Errorf("%+v %v %v", typ, ok, err)
	}
}

// A small registry has no index file.
func TestASmallRegistryHasNoIndex(t *testing.T) {
	r, h := open(t, map[string]string{fileName: upstreamFlat})
	if _, _, err := r.Search("read", 0, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(h.Path(indexName)); !os.IsNotExist(err) {
		t.Errorf("%v", err)
	}
}

// A reader sees one state of the registry while others write, never a mixture.
func TestReadersAndWriters(t *testing.T) {
	_, h := open(t, nil)
	states := func(n int) []nodetype.Type {
		var types []nodetype.Type
		for i := range 20 + n {
			types = append(types, tool("s", fmt.Sprintf("tool-%d", i), fmt.Sprintf("state %d", n)))
		}
		return types
	}
	if _, err := indexed(h, true).ReplaceServer(t.Context(), "s", states(0), false); err != nil {
		t.Fatal(err)
	}
	ctx, done := context.WithCancel(t.Context())
	var readers, writers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			for ctx.Err() == nil {
				r := indexed(h, true)
				types, err := r.MCPTools("s")
				if err != nil || len(types) < 20 {
					t.Errorf("%d types, %v", len(types), err)
					return
				}
				state := types[0].Description
				if len(types) != 20+int(state[len(state)-1]-'0') || slices.ContainsFunc(types, func(typ nodetype.Type) bool { return typ.Description != state }) {
					t.Errorf("%d types of %s, mixed", len(types), state)
					return
				}
				if found, _, err := r.Search("tool 7", 0, 3); err != nil || len(found) == 0 || found[0].Type.Name != "mcp-s-tool-7" {
					t.Errorf("%v %v", found, err)
					return
				}
			}
		})
	}
	for w := range 2 {
		writers.Go(func() {
			for i := range 10 {
				if _, err := indexed(h, w == 0).ReplaceServer(t.Context(), "s", states((i+w)%5), false); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	done()
	readers.Wait()
}

func FuzzStored(f *testing.F) {
	file, _ := parseFile([]byte(upstreamFlat))
	of := home.Stamp{Size: int64(len(upstreamFlat))}
	f.Add(newIndex(file).encode(of), []byte(upstreamFlat))
	f.Add([]byte(head(of)), []byte("{}"))
	empty, err := os.Open(os.DevNull)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data, text []byte) {
		_ = decodeIndex(data, of)
		// Data with a wrong checksum is parsed as well.
		if x := parseIndex(stored.Parse(data, head(of))); x != nil {
			x.find("mcp-s-x")
			s := snapshot{index: x, stamp: of, file: empty}
			for i := range x.len() {
				_, _ = s.typeOf(x.at(i))
			}
		}
		parsed, err := parseFile(text)
		if err != nil {
			return
		}
		built := newIndex(parsed)
		for i := range built.len() {
			r := built.at(i)
			if got := string(text[r.offset : r.offset+r.size]); got != string(parsed.nodes[r.name]) {
				t.Errorf("%q stands at %q", r.name, got)
			}
		}
		of := home.Stamp{Size: int64(len(text))}
		read := decodeIndex(built.encode(of), of)
		if read == nil || !bytes.Equal(read.data, built.data) || !bytes.Equal(read.words().Bytes(), built.words().Bytes()) {
			t.Errorf("the index of %q is read back as %+v", text, read)
		}
	})
}
