package archtest

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
)

const (
	module = "github.com/pflow-suite/pflow/"
	sdk    = "github.com/modelcontextprotocol/go-sdk/"
	gojq   = "github.com/itchyny/gojq"
	sqlite = "modernc.org/sqlite"
)

// tools are the packages outside pkg/ and cmd/, which no program links, with the packages of the suite that each may import.
var tools = map[string][]string{
	"internal/archtest":       {},
	"internal/authserver":     {},
	"internal/brief":          {},
	"internal/cases":          {},
	"internal/cputime":        {},
	"internal/golden":         {},
	"internal/llmserver":      {},
	"internal/temporalserver": {},
	"internal/terminal":       {"pkg/terminal/cells"},
	"internal/velofluxserver": {},
	"internal/definitions":    {},
	"internal/workflownames":  {},
	"internal/hostilemcp":     {},
	"internal/webserver":      {},
	"scripts/bench":           {"internal/hostilemcp", "internal/velofluxserver", "internal/temporalserver"},
	"scripts/servers":         {},
	"scripts/sourcelist":      {"internal/definitions", "internal/workflownames"},
	"scripts/tally":           {},
	"scripts/bench/trials":    {"internal/temporalserver"},
	"scripts/velofluxserver":  {"internal/velofluxserver"},
	"scripts/hostilemcp":      {"internal/hostilemcp"},
	"internal/conformance":    {"pkg/mcp/mcpserver"},
	"scripts/conformance":     {"internal/conformance", "pkg/mcp/mcphttp"},
}

// mustNotLink names, for a package or a program, what it must not depend on, directly or indirectly. A path that ends in a
// slash stands for all below it.
var mustNotLink = map[string][]string{
	// gojq builds its tables before main runs, so each start would pay for it.
	"cmd/pflow-exec":      {gojq},
	"pkg/engine/node":     {gojq},
	"pkg/engine":          {gojq, module + "pkg/catalog/", module + "pkg/run/"}, // runner wires these to it
	"pkg/workflow/check":  {gojq},
	"pkg/workflow/schema": {module + "pkg/event"},

	"cmd/pflow-lib":      {module + "pkg/engine"}, // it describes and runs nothing
	"cmd/pflow-serve":    {module + "pkg/engine", module + "pkg/catalog/", module + "pkg/run/"},
	"pkg/mcp/suitetools": {module + "pkg/engine", module + "pkg/catalog/", module + "pkg/run/"}, // what it knows comes through a pipe
	"cmd/pflow-share":    {module + "pkg/engine", sdk, gojq},                                    // it starts runs through pflow-exec
	"pkg/veloflux":       {sdk},                                                                 // so that programs can embed it
}

// onlyImporters names the packages that alone may import something; all others go through them.
var onlyImporters = map[string][]string{
	"os/exec": {"pkg/process", "scripts/bench", "internal/temporalserver", "scripts/bench/trials", "scripts/licenses", "scripts/servers"}, // a benchmark measures the programs from outside
	sdk:       {"pkg/mcp/oauth", "pkg/mcp/mcpclient", "pkg/mcp/message", "pkg/mcp/stdio", "pkg/mcp/mcpserver", "pkg/mcp/mcphttp"},
	gojq:      {"pkg/nodes/jq"},

	sqlite:                      {"pkg/share/store"}, // only pflow-share links the database
	sqlite + "/":                {"pkg/share/store"},
	module + "pkg/share/store":  {"cmd/pflow-share", "pkg/share"},
	module + "pkg/share/sealed": {"pkg/share", "pkg/share/store"},

	"github.com/google/jsonschema-go/jsonschema": {"pkg/rawjson/jsonschema"}, // what reads its error messages has one place

	// The commands open no journal and take no lock: they ask the reader, and the runner writes.
	module + "pkg/run/journal":     {"pkg/engine/runner", "pkg/run/reader", "pkg/run/watch"},
	module + "pkg/run/index":       {"pkg/run/reader"},
	"github.com/fsnotify/fsnotify": {"pkg/run/watch", "pkg/mcp/suitetools"},
	"github.com/gofrs/flock":       {"pkg/home", "pkg/run/journal", "pkg/veloflux"},

	module + "pkg/run/telemetry": {"cmd/pflow-otel"}, // no other program knows of telemetry
	module + "pkg/run/otlp":      {"cmd/pflow-otel", "pkg/run/telemetry"},
	"go.opentelemetry.io/":       {"pkg/run/otlp", "pkg/run/telemetry", "internal/otlpcollector"},

	module + "pkg/run/cluster":         {"cmd/pflow-temporal"}, // no other program links Temporal's SDK
	module + "pkg/run/cluster/payload": {"cmd/pflow-temporal", "pkg/run/cluster"},
	"go.temporal.io/":                  {"pkg/run/cluster", "pkg/run/cluster/payload"},

	module + "pkg/nodes/llm": {"cmd/pflow-node-llm"}, // a model is asked by a process of its own
}

// pure are the packages that work only on what they are given: no I/O.
var pure = []string{
	"pkg/workflow", "pkg/workflow/template", "pkg/workflow/shell", "pkg/workflow/plan", "pkg/workflow/check", "pkg/workflow/graph",
	"pkg/event/history", "pkg/terminal/cells", "pkg/catalog/search", "pkg/nodes/jq", "pkg/engine/flow", "pkg/engine/resume",
}

// TestFolders checks that the table names every package below pkg/, in an order without an arrow up.
func TestFolders(t *testing.T) {
	if len(Folders) > 15 {
		t.Errorf("pkg has %d folders: a reader should find the place for a change at a glance, so at most 15", len(Folders))
	}
	packages := suite(t)
	listed := map[string]bool{}
	var before []string
	for _, folder := range Folders {
		for _, name := range folder.Packages {
			if listed["pkg/"+name] = true; folderOf("pkg/"+name) != folder.Name {
				t.Errorf("the folder %s lists %s, which lies in another", folder.Name, name)
			}
			if _, ok := packages["pkg/"+name]; !ok {
				t.Errorf("the folder %s lists %s, which does not exist", folder.Name, name)
			}
		}
		for _, lower := range folder.MayImport {
			if !slices.Contains(before, lower) {
				t.Errorf("%s may import %s, which is not listed before it", folder.Name, lower)
			}
		}
		before = append(before, folder.Name)
	}
	for name := range packages {
		if strings.HasPrefix(name, "pkg/") && !listed[name] {
			t.Errorf("%s is new: add it to Folders in internal/archtest/rules.go and to docs/architecture.md", name)
		}
	}
}

func TestImports(t *testing.T) {
	for name, p := range suite(t) {
		if program, ok := strings.CutPrefix(name, "cmd/"); ok {
			for _, imported := range p.Imports {
				other, ours := strings.CutPrefix(imported, module)
				if ours && !slices.Contains(append([]string{"fault", "rawjson"}, Programs[program]...), folderOf(other)) {
					t.Errorf("%s imports %s, which the rules do not allow: it may import the folders %s", name, other, strings.Join(Programs[program], ", "))
				}
			}
			continue
		}
		allowed := allowedImports(name)
		for _, imported := range p.Imports {
			other, ours := strings.CutPrefix(imported, module)
			if !ours || other == "pkg/fault" || other == "pkg/rawjson" && name != "pkg/fault" {
				continue
			}
			if !slices.Contains(allowed, other) {
				t.Errorf("%s imports %s, which the rules do not allow: it may import %s", name, other, strings.Join(append(allowed, "pkg/fault", "pkg/rawjson"), ", "))
			}
		}
	}
}

// allowedImports returns the packages of the suite that a package may import besides pkg/fault and pkg/rawjson.
func allowedImports(name string) (allowed []string) {
	if !strings.HasPrefix(name, "pkg/") {
		return tools[name]
	}
	at := slices.IndexFunc(Folders, func(f Folder) bool { return f.Name == folderOf(name) })
	if at < 0 {
		return nil
	}
	for _, folder := range Folders[:at] {
		if slices.Contains(Folders[at].MayImport, folder.Name) || folder.Name == "rawjson" {
			for _, other := range folder.Packages {
				allowed = append(allowed, "pkg/"+other)
			}
		}
	}
	for _, other := range Folders[at].Packages {
		if "pkg/"+other == name {
			break
		}
		allowed = append(allowed, "pkg/"+other)
	}
	return allowed
}

// folderOf returns the folder of a package below pkg/.
func folderOf(name string) string {
	folder, _, _ := strings.Cut(strings.TrimPrefix(name, "pkg/"), "/")
	return folder
}

func TestLinks(t *testing.T) {
	packages := suite(t)
	for _, name := range slices.Sorted(maps.Keys(mustNotLink)) {
		for _, banned := range mustNotLink[name] {
			if i := slices.IndexFunc(packages[name].Deps, under(banned)); i >= 0 {
				t.Errorf("%s links %s, which it must not", name, packages[name].Deps[i])
			}
		}
	}
}

func TestOneProgramLinksTemporal(t *testing.T) {
	for name, p := range suite(t) {
		links := slices.ContainsFunc(p.Deps, under("go.temporal.io/"))
		if strings.HasPrefix(name, "cmd/") && links != (name == "cmd/pflow-temporal") {
			t.Errorf("%s links Temporal's SDK: %t", name, links)
		}
	}
}

func TestOnlyImporters(t *testing.T) {
	for name, p := range suite(t) {
		for needed, by := range onlyImporters {
			if slices.ContainsFunc(p.Imports, under(needed)) && !slices.Contains(by, name) {
				t.Errorf("%s imports %s: only %s may", name, strings.TrimSuffix(needed, "/"), strings.Join(by, " and "))
			}
		}
	}
}

func TestPure(t *testing.T) {
	packages := suite(t)
	for _, name := range pure {
		for _, banned := range []string{"os", "os/exec", "net", "net/http"} {
			if slices.Contains(packages[name].Imports, banned) {
				t.Errorf("%s imports %s: this package does no I/O", name, banned)
			}
		}
	}
}

func TestFaultStandsAlone(t *testing.T) {
	p, ok := suite(t)["pkg/fault"]
	if !ok {
		t.Fatal("pkg/fault is gone")
	}
	for _, imported := range p.Imports {
		if first, _, _ := strings.Cut(imported, "/"); strings.Contains(first, ".") {
			t.Errorf("pkg/fault imports %s: it may import the standard library alone", imported)
		}
	}
}

// under returns a function that reports whether an import path is banned, or lies below it if banned ends in a slash.
func under(banned string) func(string) bool {
	return func(path string) bool {
		return path == banned || strings.HasSuffix(banned, "/") && strings.HasPrefix(path, banned)
	}
}

// listed is what `go list` says about a package.
type listed struct {
	ImportPath    string
	GoFiles       []string
	Imports, Deps []string
}

// suite returns the packages of the module that have code outside tests, by their path in the module.
func suite(t *testing.T) map[string]listed {
	t.Helper()
	packages, err := list()
	if err != nil {
		t.Fatal(err)
	}
	return packages
}

var list = sync.OnceValues(func() (map[string]listed, error) {
	cmd := exec.Command("go", "list", "-e", "-deps", "-json=ImportPath,GoFiles,Imports,Deps", "./...")
	cmd.Dir = root
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return nil, errors.New("go list: " + string(exit.Stderr))
	}
	if err != nil {
		return nil, err
	}
	packages := map[string]listed{}
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, err
		}
		if name, ours := strings.CutPrefix(p.ImportPath, module); ours && len(p.GoFiles) > 0 {
			packages[name] = p
		}
	}
})
