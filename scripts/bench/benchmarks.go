package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// bench is the folder everything runs in: the built programs in bin/, and files made for the benchmarks.
type bench struct {
	dir      string
	programs []string
}

// newBench builds the suite's programs, and a bare one to compare them to.
func newBench(dir string) (*bench, error) {
	b := &bench{dir: dir}
	if err := quietly("go", "build", "-o", b.path("bin")+"/", "github.com/pflow-suite/pflow/cmd/..."); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(b.path("bin"))
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		b.programs = append(b.programs, e.Name())
	}
	bare := "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(\"bare 1.0.0\") }\n"
	if err := os.WriteFile(b.path("bare.go"), []byte(bare), 0o600); err != nil {
		return nil, err
	}
	if err := quietly("go", "build", "-o", b.path("bare"), b.path("bare.go")); err != nil {
		return nil, err
	}
	if err := b.writeSteps("", 100); err != nil {
		return nil, err
	}
	return b, b.writeSteps("-10000", 10000)
}

// benchmarks is the table of what is measured.
func (b *bench) benchmarks() []benchmark {
	var versions []command
	for _, p := range b.programs {
		versions = append(versions, command{name: p, args: []string{b.path("bin", p), "--version"}})
	}
	return []benchmark{
		{
			name: "--version", rounds: 200, limit: 3,
			baseline: command{name: "bare Go program", args: []string{b.path("bare")}},
			subjects: versions,
		},
		b.steps("chain of 100", "chain"),
		b.steps("fan-out of 100", "fan"),
		b.check("check of a chain of 10,000", "chain-10000"),
		b.check("check of 10,000 in parallel", "fan-10000"),
	}
}

// check compares the check of a workflow with make reading the makefile of the same shape without running it. What is
// promised is a time, not a ratio.
func (b *bench) check(name, shape string) benchmark {
	return benchmark{
		name: name, rounds: 10, limitMS: 150,
		baseline: command{name: "make -n", args: []string{"make", "-n", "-f", b.path(shape + ".mk")}},
		subjects: []command{{name: "pflow-lib check", home: true, args: []string{b.path("bin", "pflow-lib"), "check", b.path(shape + ".json")}}},
	}
}

// steps compares a run of the workflow with make on the makefile of the same shape.
func (b *bench) steps(name, shape string) benchmark {
	return benchmark{
		name: name, rounds: 20, limit: 1.5,
		baseline: command{name: "make -j2", args: []string{"make", "-j2", "-f", b.path(shape + ".mk")}},
		subjects: []command{{
			name: "pflow-exec run", home: true,
			args: []string{b.path("bin", "pflow-exec"), "run", "--quiet", "--jobs", "2", b.path(shape + ".json")},
		}},
	}
}

// writeSteps writes n steps that do nothing, as a chain and as a fan-out, for the suite and for make.
func (b *bench) writeSteps(suffix string, n int) error {
	type object = map[string]any
	var nodes, edges []object
	var chain, fan, names strings.Builder
	for i := 1; i <= n; i++ {
		id := fmt.Sprintf("n%d", i)
		nodes = append(nodes, object{"id": id, "type": "shell", "params": object{"command": "/bin/true"}})
		fmt.Fprintf(&names, " %s", id)
		fmt.Fprintf(&fan, "%s:\n\t@/bin/true\n", id)
		if i == 1 {
			fmt.Fprintf(&chain, "%s:\n\t@/bin/true\n", id)
			continue
		}
		before := fmt.Sprintf("n%d", i-1)
		edges = append(edges, object{"from": before, "to": id})
		fmt.Fprintf(&chain, "%s: %s\n\t@/bin/true\n", id, before)
	}
	head := fmt.Sprintf("all:%[1]s\n.PHONY: all%[1]s\n", names.String())
	chained, err := json.Marshal(object{"nodes": nodes, "edges": edges})
	if err != nil {
		return err
	}
	free, err := json.Marshal(object{"nodes": nodes})
	if err != nil {
		return err
	}
	for name, text := range map[string]string{
		"chain" + suffix + ".json": string(chained), "chain" + suffix + ".mk": head + chain.String(),
		"fan" + suffix + ".json": string(free), "fan" + suffix + ".mk": head + fan.String(),
	} {
		if err := os.WriteFile(b.path(name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) path(elem ...string) string {
	return filepath.Join(append([]string{b.dir}, elem...)...)
}

// quietly runs a command that is not measured; its error has what it said.
func quietly(name string, args ...string) error {
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, out)
	}
	return nil
}
