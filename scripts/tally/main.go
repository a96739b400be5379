// Tally reads the output of `go test -json`. It prints failures in full and one line for each other package, and counts tests.
//
//	go test -json ./... | tally COUNTS
//
// COUNTS is a file to which "passed failed skipped" is written. Of a test with subtests only these are counted. A failure outside
// a test (a package that does not build, a panic) counts as one. The exit status is 1 if anything failed.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go test -json ./... | tally COUNTS")
		os.Exit(2)
	}
	total, err := tally(os.Stdin, os.Stdout)
	if err == nil {
		err = os.WriteFile(os.Args[1], fmt.Appendf(nil, "%d %d %d\n", total.passed, total.failed, total.skipped), 0o600)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "tally:", err)
		os.Exit(2)
	}
	if total.failed > 0 {
		os.Exit(1)
	}
}

type counts struct{ passed, failed, skipped int }

// line is one line of `go test -json` (see `go doc test2json`, and `go help buildjson` for the build's).
type line struct {
	Action      string
	Package     string
	ImportPath  string // in the lines of a build, instead of Package
	Test        string
	Output      string
	Elapsed     float64
	FailedBuild string
}

// tally reads the whole stream. It passes on lines that are not JSON, which are messages of the go command.
func tally(in io.Reader, out io.Writer) (counts, error) {
	var total counts
	packages := map[string]*pkg{}
	builds := map[string]*strings.Builder{}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var l line
		if json.Unmarshal(lines.Bytes(), &l) != nil {
			fmt.Fprintln(out, lines.Text())
			continue
		}
		if l.Action == "build-output" {
			if builds[l.ImportPath] == nil {
				builds[l.ImportPath] = &strings.Builder{}
			}
			builds[l.ImportPath].WriteString(l.Output)
		}
		if l.Package == "" {
			continue
		}
		p := packages[l.Package]
		if p == nil {
			p = &pkg{tests: map[string]*test{}}
			packages[l.Package] = p
		}
		if l.Test != "" {
			p.test(l)
			continue
		}
		switch l.Action {
		case "output":
			if !framing(l.Output) {
				p.output.WriteString(l.Output)
			}
		case "pass", "fail", "skip":
			n := p.end(l, builds[l.FailedBuild], out)
			total.passed += n.passed
			total.failed += n.failed
			total.skipped += n.skipped
			delete(packages, l.Package)
		}
	}
	for name, p := range packages { // the stream ended too early
		total.failed += p.end(line{Action: "fail", Package: name}, nil, out).failed
	}
	return total, lines.Err()
}
