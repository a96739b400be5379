package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// bench has the folder of the benchmarks, with the built programs in bin/ and the files that they need.
type bench struct {
	dir      string
	programs []string
	tools    map[string]string // paths of the programs to compare with; "" if one is missing
}

// benchmark is one thing to measure.
type benchmark struct {
	name    string
	measure func() ([]result, error)
}

// benchmarks is the table of what is measured.
func (b *bench) benchmarks() []benchmark {
	return []benchmark{
		{"start", b.versions},
		{"one node", b.oneNode},
		{"one node by a runner", b.byRunner},
		{"chain of 100", b.steps("chain-100", 20, 1.5)},
		{"fan-out of 100", b.steps("fan-100", 20, 1.5)},
		{"chain of 1,000", b.steps("chain-1000", 5, 1.2)},
		{"fan-out of 1,000", b.steps("fan-1000", 5, 1.2)},
		{"journal of a chain of 1,000", b.journal},
		{"resume of a chain of 10,000", b.resume},
		{"memory of a batch of 10,000", b.batchMemory},
		{"memory of an output of 100 MB", b.outputMemory},
		{"lists of 10,000 runs", b.runLists},
		{"web page of 10,000 runs", b.runsPage},
		{"idle watch of 1,000 runs", b.watchIdle},
		{"delay of a watch", b.watchDelay},
		{"check of a chain of 10,000", b.check("chain-10000")},
		{"check of 10,000 in parallel", b.check("fan-10000")},
		{"one field of 100 MB", measureFields},
		{"registry of 10,000 types", b.registry},
		{"sync of 100 servers with 100 tools", b.manyServers},
		{"cached reads over stdio", b.cachedReads},
		{"reads of pflow-serve", b.frontReads},
		{"many calls of pflow-serve", b.manyCalls},
		{"1,000 workflows as tools", b.workflowTools},
		{"1,000 streams of pflow-serve", b.heldStreams},
		{"runs of shared flows", b.acceptedFlows},
		{"100,000 requests of shared flows", b.manyRequests},
		{"telemetry of 100,000 events", b.telemetry},
		{"cluster run that loses its worker", b.clusterLosses},
		{"batch on a cluster", b.clusterBatch},
	}
}

// build builds the suite's programs, as they are released, and a bare one to compare with, and writes the workflows that they run.
func (b *bench) build() error {
	if err := quietly("env", "CGO_ENABLED=0", "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", b.path("bin")+"/", "github.com/pflow-suite/pflow/cmd/..."); err != nil {
		return err
	}
	entries, err := os.ReadDir(b.path("bin"))
	if err != nil {
		return err
	}
	for _, e := range entries {
		b.programs = append(b.programs, e.Name())
	}
	bare := "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(\"bare 1.0.0\") }\n"
	if err := os.WriteFile(b.path("bare.go"), []byte(bare), 0o600); err != nil {
		return err
	}
	if err := quietly("go", "build", "-o", b.path("bare"), b.path("bare.go")); err != nil {
		return err
	}
	for _, n := range []int{1, 100, 1000, 10000} {
		if err := b.write(fmt.Sprintf("chain-%d", n), chain(n)); err != nil {
			return err
		}
		if err := b.write(fmt.Sprintf("fan-%d", n), fan(n)); err != nil {
			return err
		}
	}
	return nil
}

// versions compares the start of each program with that of a bare one. A program that is a node type has a higher limit, and that for a
// cluster: the libraries that they link start slowly, and their work takes far longer.
func (b *bench) versions() ([]result, error) {
	var all []result
	for _, heavy := range []bool{false, true} {
		limit := 3.0
		if heavy {
			limit = 5
		}
		c := comparison{rounds: 200, rivals: []rival{{b.bare(), limit}}}
		for _, p := range b.programs {
			if heavy == (p == "pflow-temporal" || strings.HasPrefix(p, "pflow-node-")) {
				c.subjects = append(c.subjects, command{name: p + " --version", args: []string{b.path("bin", p), "--version"}})
			}
		}
		results, err := c.measure()
		if err != nil {
			return nil, err
		}
		all = append(all, results...)
	}
	return all, nil
}

func (b *bench) bare() command {
	return command{name: "bare Go program", args: []string{b.path("bare")}}
}

// oneNode is a whole run in a new home.
func (b *bench) oneNode() ([]result, error) {
	return comparison{rounds: 100, limitMS: 10, subjects: []command{b.run("chain-1")}, rivals: []rival{{command: b.bare()}}}.measure()
}

// steps compares a run with other programs that run the same steps, two at a time.
func (b *bench) steps(name string, rounds int, limit float64) func() ([]result, error) {
	return func() ([]result, error) {
		c := comparison{rounds: rounds, subjects: []command{b.run(name)}}
		for _, r := range []rival{
			{command{name: "make", args: []string{"-j2", "-f", b.path(name + ".mk")}}, limit},
			{command{name: "ninja", args: []string{"-j2", "--quiet", "-f", b.path(name + ".ninja")}}, 1},
			{command{name: "task", args: []string{"-C2", "--silent", "--taskfile", b.path(name + ".yml"), "all"}}, 1},
		} {
			if path, ok := b.tool(r.name); ok {
				r.args = append([]string{path}, r.args...)
				c.rivals = append(c.rivals, r)
			}
		}
		return c.measure()
	}
}

// check measures a check. It also shows the time in which make reads the makefile of the same shape.
func (b *bench) check(name string) func() ([]result, error) {
	return func() ([]result, error) {
		c := comparison{
			rounds: 10, limitMS: 150,
			subjects: []command{{name: "pflow-lib check", args: []string{b.path("bin", "pflow-lib"), "check", b.path(name + ".json")}}},
		}
		if path, ok := b.tool("make"); ok {
			c.rivals = []rival{{command: command{name: "make -n", args: []string{path, "-n", "-f", b.path(name + ".mk")}}}}
		}
		return c.measure()
	}
}

// run runs a workflow of this folder.
func (b *bench) run(name string) command { return b.exec("run", b.path(name+".json")) }

// exec returns a command of pflow-exec that runs two nodes at a time.
func (b *bench) exec(verb, what string) command {
	return command{name: "pflow-exec " + verb, args: []string{b.path("bin", "pflow-exec"), verb, "--quiet", "--jobs", "2", what}}
}

func (b *bench) path(elem ...string) string {
	return filepath.Join(append([]string{b.dir}, elem...)...)
}
