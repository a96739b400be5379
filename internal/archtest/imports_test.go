// Package archtest holds the house's rules that a compiler does not: who may import whom, and what may stand where.
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
)

// mayImport says for each package which others of the suite it may import, besides pkg/fault and pkg/rawjson, which all may.
var mayImport = map[string]string{
	// What crosses a process.
	"pkg/fault":    "",
	"pkg/rawjson":  "",
	"pkg/event":    "",
	"pkg/nodetype": "",
	"pkg/trace":    "",

	// The language.
	"pkg/workflow":        "workflow/yaml",
	"pkg/workflow/schema": "workflow",
	"pkg/workflow/yaml":   "",
	"pkg/template":        "",
	"pkg/shell":           "template",
	"pkg/plan":            "workflow template event",
	"pkg/check":           "workflow template shell plan nodetype",
	"pkg/history":         "event",
	"pkg/cells":           "",
	"pkg/ranking":         "",
	"pkg/graph":           "workflow template plan event history cells",

	// Running.
	"pkg/proc":        "",
	"pkg/run":         "home event proc",
	"pkg/node":        "proc mcpclient template shell workflow nodetype event",
	"pkg/nodeprogram": "nodetype",
	"pkg/jq":          "nodetype",
	"pkg/agent":       "answer proc shell redact nodetype",
	"pkg/report":      "event history graph workflow template plan",
	"pkg/engine":      "plan node run redact event template workflow nodetype trace",

	// The home.
	"pkg/home":     "",
	"pkg/settings": "home",
	"pkg/redact":   "",
	"pkg/cache":    "home",
	"pkg/registry": "home nodetype settings ranking",
	"pkg/library":  "home workflow",

	// Outside.
	"pkg/mcpclient": "proc home nodetype redact",
	"pkg/arguments": "",
	"pkg/mcpserver": "arguments",
	"pkg/front":     "mcpserver proc",
	"pkg/veloflux":  "arguments proc redact",
	"pkg/answer":    "",
	"pkg/llm":       "answer nodetype settings",
	"pkg/progress":  "event history cells",
	"pkg/cli":       "home proc",

	// Programs.
	"cmd/pflow-exec":       "report history engine progress cells trace cache check library registry settings run node plan redact event workflow template nodetype home proc mcpclient cli",
	"cmd/pflow-lib":        "graph cells plan run event workflow/schema library registry ranking settings check jq template workflow nodetype redact home cli",
	"cmd/pflow-sync":       "arguments mcpclient registry settings nodetype redact home proc cli",
	"cmd/pflow-serve":      "front mcpserver proc home cli",
	"cmd/pflow-node-agent": "agent nodeprogram nodetype proc cli",
	"cmd/pflow-node-jq":    "jq nodeprogram nodetype cli",
	"cmd/pflow-node-llm":   "llm nodeprogram settings cli",
	"cmd/veloflux-mcp":     "veloflux mcpserver arguments cells cli",

	// Tools of the repository, which ship with no program.
	"internal/cases":          "",
	"internal/llmserver":      "",
	"internal/terminal":       "cells",
	"internal/velofluxserver": "",
	"internal/webserver":      "",
	"scripts/bench":           "template internal/velofluxserver",
	"scripts/bench/trials":    "",
	"scripts/tally":           "",
	"scripts/velofluxserver":  "internal/velofluxserver",
}

// mayNotLink says which packages a package may not have anywhere below it.
var mayNotLink = map[string][]string{
	// What every start of it would pay for: gojq makes its functions before main.
	"cmd/pflow-exec": {gojq},
	"pkg/node":       {gojq},
	"pkg/engine":     {gojq},
	"pkg/check":      {gojq},

	"cmd/pflow-lib":   {module + "pkg/node", module + "pkg/engine"}, // it tells what can be used and runs nothing
	"cmd/pflow-serve": {module + "pkg/engine", module + "pkg/library", module + "pkg/registry", module + "pkg/run"},
	"pkg/front":       {module + "pkg/engine", module + "pkg/library", module + "pkg/registry", module + "pkg/run"}, // what it knows comes through a pipe
	"pkg/veloflux":    {sdk},                                                                                        // so that it can be embedded
}

// mayNeed says which packages alone may import what needs care, for all others go through them.
var mayNeed = map[string][]string{
	"os/exec": {"pkg/proc", "scripts/bench", "scripts/bench/trials"}, // a benchmark measures the programs from outside
	sdk:       {"pkg/mcpclient", "pkg/mcpserver"},
	gojq:      {"pkg/jq"},

	module + "pkg/llm":                        {"cmd/pflow-node-llm"}, // no other program is to link the clients
	"github.com/openai/openai-go/":            {"pkg/llm"},
	"github.com/anthropics/anthropic-sdk-go":  {"pkg/llm"},
	"github.com/anthropics/anthropic-sdk-go/": {"pkg/llm"},
}

// pure are the packages of the language: they work on what they are given.
var pure = []string{"pkg/workflow", "pkg/template", "pkg/shell", "pkg/check", "pkg/plan", "pkg/history", "pkg/cells", "pkg/ranking", "pkg/graph", "pkg/jq"}

func TestImports(t *testing.T) {
	for name, p := range suite(t) {
		allowed, known := mayImport[name]
		if !known {
			t.Errorf("%s is new: add it to mayImport in internal/archtest, with the packages of the suite it may import", name)
			continue
		}
		for _, imported := range p.Imports {
			other, ours := strings.CutPrefix(imported, module)
			if !ours || other == "pkg/fault" || other == "pkg/rawjson" && name != "pkg/fault" {
				continue
			}
			if !slices.Contains(strings.Fields(allowed), strings.TrimPrefix(other, "pkg/")) {
				t.Errorf("%s imports %s, which the rules do not allow: it may import %s", name, other, or(allowed, "none but fault and rawjson"))
			}
		}
	}
}

func TestLinks(t *testing.T) {
	packages := suite(t)
	for _, name := range slices.Sorted(maps.Keys(mayNotLink)) {
		for _, banned := range mayNotLink[name] {
			if i := slices.IndexFunc(packages[name].Deps, under(banned)); i >= 0 {
				t.Errorf("%s links %s, which it may not", name, packages[name].Deps[i])
			}
		}
	}
}

func TestOnlyImporters(t *testing.T) {
	for name, p := range suite(t) {
		for needed, by := range mayNeed {
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
				t.Errorf("%s imports %s: the language does no I/O", name, banned)
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

// under says whether an import path is, or with a slash at its end lies below, another.
func under(banned string) func(string) bool {
	return func(path string) bool {
		return path == banned || strings.HasSuffix(banned, "/") && strings.HasPrefix(path, banned)
	}
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// listed is what is asked of `go list`.
type listed struct {
	ImportPath    string
	GoFiles       []string
	Imports, Deps []string
}

// suite gives the packages of the suite that have code outside tests, by their path in the module.
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
