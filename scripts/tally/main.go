// Tally reads what `go test -json` prints, shows failures in full and everything else as a line a package, and counts.
//
//	go test -json ./... | tally COUNTS
//
// COUNTS is a file that gets "passed failed skipped". A test with subtests is not counted beside them. What failed
// outside a test (a package that does not build, a panic) counts as one failure. The status is 1 when something failed.
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
	ImportPath  string // a build's lines have this one
	Test        string
	Output      string
	Elapsed     float64
	FailedBuild string
}

// tally reads the whole stream. A line that is no JSON (the go command's own words) is passed on.
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
	for name, p := range packages { // the stream was cut off
		total.failed += p.end(line{Action: "fail", Package: name}, nil, out).failed
	}
	return total, lines.Err()
}
