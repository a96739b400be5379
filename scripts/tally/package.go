package main

import (
	"fmt"
	"io"
	"strings"
)

// pkg is a package whose tests run.
type pkg struct {
	tests  map[string]*test
	order  []string
	output strings.Builder // outside any test
}

type test struct {
	result string // pass, fail, skip; empty while it runs
	parent bool
	failed bool // a subtest failed
	output strings.Builder
}

// test processes a line about one test.
func (p *pkg) test(l line) {
	t := p.tests[l.Test]
	if t == nil {
		t = &test{}
		p.tests[l.Test] = t
		p.order = append(p.order, l.Test)
	}
	switch l.Action {
	case "output":
		if !framing(l.Output) {
			t.output.WriteString(l.Output)
		}
	case "pass", "fail", "skip":
		t.result = l.Action
	}
}

// end prints the result of a package after its last line, and returns the counts of its tests.
func (p *pkg) end(last line, build *strings.Builder, out io.Writer) counts {
	for name, t := range p.tests {
		if t.result == "" { // it was running when the process died
			t.result = "fail"
		}
		for at := strings.LastIndexByte(name, '/'); at > 0; at = strings.LastIndexByte(name[:at], '/') {
			if above := p.tests[name[:at]]; above != nil {
				above.parent = true
				above.failed = above.failed || t.result == "fail"
			}
		}
	}
	var n counts
	for _, name := range p.order {
		t := p.tests[name]
		switch {
		case t.result == "fail":
			if !t.failed {
				n.failed++
			}
			fmt.Fprintf(out, "--- FAIL: %s %s\n%s", last.Package, name, t.output.String())
		case t.parent:
		case t.result == "skip":
			n.skipped++
			fmt.Fprintf(out, "--- SKIP: %s %s: %s\n", last.Package, name, reason(t.output.String()))
		default:
			n.passed++
		}
	}
	if last.Action == "fail" && n.failed == 0 {
		n.failed = 1
	}
	switch {
	case last.Action == "fail":
		if build != nil {
			fmt.Fprint(out, build.String())
		}
		fmt.Fprint(out, p.output.String())
		fmt.Fprintf(out, "FAIL  %s\n", last.Package)
	case n != counts{}:
		fmt.Fprintf(out, "ok    %s  %d passed", last.Package, n.passed)
		if n.skipped > 0 {
			fmt.Fprintf(out, ", %d skipped", n.skipped)
		}
		fmt.Fprintf(out, "  %.1fs\n", last.Elapsed)
	}
	return n
}

// framing reports whether the test runner wrote the line, not a test: "=== RUN", "--- FAIL: TestX (0.1s)", "FAIL",
// "FAIL\tpackage".
func framing(output string) bool {
	output = strings.TrimLeft(output, " ")
	for _, own := range []string{"=== ", "--- PASS: ", "--- FAIL: ", "--- SKIP: ", "FAIL\n", "FAIL\t"} {
		if strings.HasPrefix(output, own) {
			return true
		}
	}
	return false
}

// reason returns why a test was skipped: the last line of its output, without the place in the source.
func reason(output string) string {
	var words string
	for line := range strings.Lines(output) {
		if line = strings.TrimSpace(line); line != "" {
			words = line
		}
	}
	if _, after, found := strings.Cut(words, ".go:"); found {
		if _, text, found := strings.Cut(after, ": "); found {
			return text
		}
	}
	return words
}
