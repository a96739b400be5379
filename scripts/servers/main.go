// Servers installs MCP servers of others, at fixed versions, from the registries of npm and PyPI, and tries the suite with them: it
// registers their tools with pflow-sync and calls some from workflows with pflow-exec.
//
//	go run ./scripts/servers [--only REGEXP] [--json]
//
// It needs node with npm, and Python 3.10 or later. The servers are installed into bin/tools/servers (1 GB) once. Progress goes to
// standard error. The exit status is 1 if a server failed, or was not called as it should be.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
)

func main() {
	only := flag.String("only", "", "try only the servers whose name matches `REGEXP`, such as 'memory|git'")
	asJSON := flag.Bool("json", false, "print one JSON document instead of a table")
	flag.Parse()
	results, err := tryAll(*only)
	if err != nil {
		fmt.Fprintln(os.Stderr, "servers:", err)
		os.Exit(2)
	}
	if *asJSON {
		err = json.NewEncoder(os.Stdout).Encode(map[string]any{"results": results})
	} else {
		err = table(os.Stdout, results)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "servers:", err)
		os.Exit(2)
	}
	if slices.ContainsFunc(results, func(r result) bool { return r.Problem != "" }) {
		os.Exit(1)
	}
}

// tryAll installs and tries the servers whose names match.
func tryAll(only string) ([]result, error) {
	pattern, err := regexp.Compile(only)
	if err != nil {
		return nil, fmt.Errorf("--only: %w", err)
	}
	chosen := slices.DeleteFunc(servers(), func(s server) bool { return !pattern.MatchString(s.Name) })
	if len(chosen) == 0 {
		return nil, fmt.Errorf("--only %s matches no server", only)
	}
	root, err := output("go", "list", "-m", "-f", "{{.Dir}}")
	if err != nil {
		return nil, err
	}
	tools := filepath.Join(root, "bin", "tools", "servers")
	dir, err := os.MkdirTemp("", "pflow-servers-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	fmt.Fprintln(os.Stderr, "servers: building the programs")
	if _, err := output("go", "build", "-o", filepath.Join(dir, "bin")+"/", "github.com/pflow-suite/pflow/cmd/..."); err != nil {
		return nil, err
	}
	if err := install(tools, chosen); err != nil {
		return nil, err
	}
	results := make([]result, len(chosen))
	for i, s := range chosen {
		fmt.Fprintf(os.Stderr, "servers: %d of %d: %s\n", i+1, len(chosen), s.Name)
		if results[i], err = s.try(dir, tools); err != nil {
			return nil, fmt.Errorf("%s: %w", s.Name, err)
		}
	}
	return results, nil
}

// table writes the results for people.
func table(out io.Writer, results []result) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "server\tversion\ttools\tsync\tcalls\trun\tresult")
	bad := 0
	for _, r := range results {
		verdict := "ok"
		if r.Problem != "" {
			bad++
			verdict = "FAILED: " + r.Problem
		} else if r.Said != "" {
			verdict = "ok, it said: " + r.Said
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%d ms\t%d\t%d ms\t%s\n", r.Server, r.Version, r.Tools, r.SyncMS, r.Calls, r.RunMS, strings.ReplaceAll(verdict, "\n", " "))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "%d servers, %d failed\n", len(results), bad)
	return err
}
