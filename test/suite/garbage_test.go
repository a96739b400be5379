package suite

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/internal/brief"
)

// deep is the depth of the deepest garbage: enough to overflow the stack of a recursive reader.
const deep = 7_000_000

// garbage returns contents that no program of the suite can use, by their descriptions.
func garbage() map[string]string {
	return map[string]string{
		"nothing":               "",
		"bytes":                 "\x00\xff\xfe\x80{\"\x00\n\n\xc3\x28",
		"half a document":       `{"nodes":[{"id":"a","type":"sh`,
		"null":                  "null",
		"a text":                `"text"`,
		"a list":                `[1,{"a":null},[]]`,
		"the wrong types":       `{"nodes":7,"mcpServers":[],"servers":"x","env":3,"registry":[],"v":"x","event":{},"name":[],"run":{}}`,
		"nulls":                 `{"nodes":null,"mcpServers":null,"env":null,"edges":null,"inputs":null,"outputs":null}`,
		"nulls inside":          `{"nodes":[null],"mcpServers":{"a":null},"env":{"A":null},"edges":[null],"inputs":{"a":null},"outputs":{"a":null}}`,
		"UTF-16":                "\xff\xfe{\x00\"\x00n\x00o\x00d\x00e\x00s\x00\"\x00:\x00[\x00]\x00}\x00",
		"a huge number":         `{"nodes":[{"id":"a","type":"echo","params":{"count":1e999999999}}],"v":1e999999999}`,
		"lines":                 "{}\n{}\n[]\nnull\n",
		"a deep list":           strings.Repeat("[", deep),
		"a deep object":         strings.Repeat(`{"a":`, deep/4),
		"a deep list that fits": strings.Repeat("[", deep) + strings.Repeat("]", deep),
	}
}

// garbageCalls are the ways to give a program the file "it" or standard input. A call with * may succeed.
var garbageCalls = []string{
	"pflow-exec run it", "pflow-exec run -", "pflow-exec start it", "pflow-exec run --format json it",
	"pflow-exec run good --inputs it", "pflow-exec run good --inputs -", "pflow-exec run good --resume it", "pflow-exec run good --resume -", "pflow-exec start good --resume it", "pflow-exec start good --resume -",
	"pflow-exec run good x=@it", "pflow-exec run good x=@-", "pflow-exec resume last --inputs it", "*pflow-exec detached",
	"*pflow-exec run good --dry-run --env-file it", "*pflow-exec run good --dry-run --env-file -", "pflow-exec run good --dry-run --resume it", "pflow-exec report -",
	"pflow-lib check it", "pflow-lib check -",
	"pflow-sync add it", "pflow-sync add -", "pflow-sync call -- pflow-serve -- browse_components -", "pflow-sync call -- pflow-serve -- describe_workflow name=@it",
	"*pflow-serve", "*veloflux-mcp --stdio", "*veloflux-mcp --stdio --framing lsp", "veloflux-mcp call streams.list x=@it",
	"veloflux-mcp call pipelines.verify -", "veloflux-mcp call pipelines.create -", "veloflux-mcp call pipelines.verify sql=@it", "veloflux-mcp call streams.describe name=@it",
	"*veloflux-mcp call streams.list --header-file it", "veloflux-mcp call streams.list --tls-ca-file it", "veloflux-mcp call streams.list --tls-cert-file it",
}

func TestGarbageIsRefused(t *testing.T) {
	t.Parallel()
	contents := garbage()
	for i, what := range slices.Sorted(maps.Keys(contents)) {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			content := contents[what]
			p, _ := fluxPlace(t)
			p.draft("good", chain("echo good"))
			p.run("pflow-exec", "run", chainFile(p))
			p.write("it", content)
			before := p.files()
			for _, line := range brief.PartFrom(i, garbageCalls, 5) { // each content meets a fifth of the calls, each call a fifth of the contents
				line, lenient := strings.CutPrefix(line, "*")
				p.garbageCall(line, content, lenient)
			}
			p.checkUnchanged(before)
		})
	}
}

// garbageCall makes one call, which must end with a fault unless it may succeed.
func (p *place) garbageCall(line, stdin string, lenient bool) {
	p.Helper()
	args := strings.Fields(line)
	o := p.fed(stdin, args[0], args[1:]...)
	o.stdout, o.stderr = clip(o.stdout), clip(o.stderr)
	switch {
	case lenient && (o.exit == 0 || o.exit == 1 || o.exit == 2):
	case o.exit != 1 && o.exit != 2:
		p.Errorf("%s: %s", line, o)
	case !strings.Contains(o.stdout, `"error":{`) || !strings.Contains(o.stderr, args[0]+": error: "):
		p.Errorf("%s is no clear failure: %s", line, o)
	}
}

// clip removes the middle of a long text.
func clip(text string) string {
	if len(text) < 4000 {
		return text
	}
	return text[:2000] + "…" + text[len(text)-2000:]
}

// Folders, unreadable files and missing files are refused.
func TestWhatIsNoFileIsRefused(t *testing.T) {
	t.Parallel()
	p, _ := fluxPlace(t)
	p.draft("good", chain("echo good"))
	p.must("pflow-exec", "run", "good")
	if err := os.Mkdir(filepath.Join(p.dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	names := []string{"folder", "gone.json", "folder/gone.json", "good.json/x", strings.Repeat("long", 2000)}
	if os.Getuid() == 0 {
		t.Log("root may read everything, so a file without permission is left out")
	} else {
		names = append(names, "locked")
		if err := os.Chmod(p.write("locked", "{}"), 0); err != nil {
			t.Fatal(err)
		}
	}
	p.write("good.json", chain("echo good"))
	for _, name := range names {
		for _, line := range garbageCalls {
			if fields := strings.Fields(line); slices.ContainsFunc(fields, func(f string) bool { return f == "it" || strings.HasSuffix(f, "=@it") }) {
				p.garbageCall(strings.ReplaceAll(strings.TrimPrefix(line, "*"), "it", name), "", false)
			}
		}
	}
}

// files returns the contents of all files of the home, except lock files and the trace, to which every call of veloflux-mcp
// adds a line.
func (p *place) files() map[string]string {
	p.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(p.home, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		name, _ := filepath.Rel(p.home, path)
		if !strings.HasPrefix(name, "locks/") && !strings.HasPrefix(name, "traces/") && filepath.Base(name) != "lock" {
			b, err := os.ReadFile(path)
			found[name] = string(b)
			return err
		}
		return nil
	})
	if err != nil {
		p.Fatal(err)
	}
	return found
}

func (p *place) checkUnchanged(before map[string]string) {
	p.Helper()
	after := p.files()
	for name, content := range after {
		if was, ok := before[name]; !ok || was != content {
			p.Errorf("%s of the home was changed or made", name)
		}
	}
	if len(after) < len(before) {
		p.Errorf("the home had %d files and has %d", len(before), len(after))
	}
}

// homeFiles are the files of the home that programs read, with the calls that need them.
var homeFiles = map[string][]string{
	"registry.json":           {"pflow-lib search", "pflow-lib browse shell", "pflow-sync tools"},
	"settings.json":           {"pflow-lib search", "pflow-lib check good", "pflow-exec run good", "pflow-exec start good", "pflow-exec run --format json good", "pflow-exec resume last"},
	"mcp-servers.json":        {"pflow-sync list", "pflow-sync sync --all", "pflow-sync sync x", "pflow-sync remove x", "pflow-sync add y -- pflow-serve", "pflow-sync call x tool"},
	"workflows/it.json":       {"pflow-lib describe it", "pflow-lib check it", "pflow-exec run it", "pflow-exec start it", "pflow-lib save it kept"},
	"library/it.json":         {"pflow-lib describe it", "pflow-lib check it", "pflow-exec run it", "pflow-exec start it"},
	"share.db":                {"pflow-share list", "pflow-share jobs", "pflow-share add good", "pflow-share cleanup", "pflow-share keys list"},
	"stats/good.json":         {},
	"runs/RUN/journal.ndjson": {"pflow-exec resume RUN"},
	"runs/RUN/workflow.json":  {"pflow-exec resume RUN"},
	"runs/RUN/lock":           {},
}

// anyCalls are made for every broken file. They may succeed or fail, but must not crash.
var anyCalls = []string{
	"pflow-lib list", "pflow-lib list --drafts", "pflow-lib search", "pflow-lib describe good", "pflow-lib check good", "pflow-lib show good",
	"pflow-sync list", "pflow-sync tools", "pflow-exec list", "pflow-exec status last", "pflow-exec wait last", "pflow-exec events last", "pflow-exec cancel last",
}

// A broken file of the home is reported by its name and not changed.
func TestAHomeWithGarbage(t *testing.T) {
	t.Parallel()
	contents := garbage()
	for _, what := range brief.Part([]string{"bytes", "nothing", "half a document", "null", "the wrong types", "nulls inside", "a deep list"}, 4) {
		for file, calls := range homeFiles {
			t.Run(file+" is "+what, func(t *testing.T) {
				t.Parallel()
				p := newPlace(t)
				p.draft("good", chain("echo good"))
				p.run("pflow-exec", "run", chainFile(p))
				id := p.onlyRun()
				p.write("home/"+strings.ReplaceAll(file, "RUN", id), contents[what])
				broken := slices.Contains([]string{"bytes", "half a document", "a deep list"}, what)
				for _, line := range append(slices.Clone(calls), anyCalls...) {
					args := strings.Fields(strings.ReplaceAll(line, "RUN", id))
					o := p.run(args[0], args[1:]...)
					o.stdout, o.stderr = clip(o.stdout), clip(o.stderr)
					if o.exit > 2 || o.exit < 0 || o.exit != 0 && !strings.Contains(o.stderr, args[0]+": error: ") {
						t.Errorf("%s is no clear failure: %s", line, o)
					}
					warns := strings.HasPrefix(line, "pflow-lib search") || strings.HasPrefix(line, "pflow-lib browse") // and answers without the file
					said := o.stdout
					if line == "pflow-sync tools" { // its list has no place for a warning
						warns, said = true, o.stderr
					}
					if broken && slices.Contains(calls, line) && ((o.exit == 0) != warns || !strings.Contains(said, named(file))) {
						t.Errorf("%s does not say that %s is broken: %s", line, named(file), o)
					}
				}
				if now := p.read("home/" + strings.ReplaceAll(file, "RUN", id)); broken && now != contents[what] {
					t.Errorf("%s was changed to %q", file, clip(now))
				}
			})
		}
	}
}

// named returns how a fault names a file of the home. It does not name the files of a run.
func named(file string) string {
	if strings.HasPrefix(file, "runs/") {
		return "error"
	}
	return strings.TrimSuffix(filepath.Base(file), ".json")
}

// chainFile writes a workflow whose second node fails, and returns its path.
func chainFile(p *place) string {
	p.Helper()
	return p.write("w.json", chain("echo first", "exit 1"))
}

// A home that is a file, or that cannot be created, is an error.
func TestAHomeThatCannotBe(t *testing.T) {
	t.Parallel()
	for _, where := range []string{"it/home", "it", "/proc/none/home", "/dev/null"} {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			p, _ := fluxPlace(t)
			p.write("it", "a file")
			p.write("w.json", chain("echo one"))
			if !filepath.IsAbs(where) {
				where = filepath.Join(p.dir, where)
			}
			p.env = append(p.env, "PFLOW_HOME="+where)
			for _, line := range []string{"pflow-exec run w.json", "pflow-exec run --format json w.json", "pflow-exec start w.json", "pflow-sync add x -- pflow-serve", "pflow-exec status last", "pflow-lib describe x", "pflow-lib save x y", "pflow-lib remove x", "pflow-sync remove x"} {
				p.garbageCall(line, "", false)
			}
			for _, line := range []string{"pflow-exec list", "pflow-lib list", "pflow-lib search", "pflow-sync list", "pflow-sync tools", "veloflux-mcp call streams.list", "veloflux-mcp read veloFlux://streams/snapshot"} {
				p.garbageCall(line, "", true)
			}
			if p.read("it") != "a file" {
				t.Error("the file was changed")
			}
		})
	}
}

// A line that is not a message does not stop a server from serving the next message.
func TestTheFrontHeedsNoGarbage(t *testing.T) {
	t.Parallel()
	for what, content := range garbage() {
		for _, server := range []string{"pflow-serve", "veloflux-mcp"} {
			t.Run(server+" given "+what, func(t *testing.T) {
				t.Parallel()
				p, _ := fluxPlace(t)
				args := map[string][]string{"veloflux-mcp": {"--stdio"}}[server]
				o := p.fed(initialize+content+"\n"+`{"jsonrpc":"2.0","id":"after","method":"ping"}`+"\n", server, args...)
				if o.exit != 0 || !strings.Contains(o.stdout, `{"jsonrpc":"2.0","id":"after","result":{}}`) {
					t.Errorf("the message behind it is not served: %s", clip(fmt.Sprint(o)))
				}
			})
		}
	}
}
