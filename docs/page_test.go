package docs

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// The pages that are held to what the programs do.
const (
	contracts = "contracts.md"
	workflows = "workflows.md"
	coming    = "coming-from-pflow.md"
	cookbook  = "cookbook.md"
)

// page is a Markdown file by its lines.
type page struct {
	name   string
	lines  []string
	blocks []block
	// headings are the lines that are headings, with their marks.
	headings []heading
}

// block is a fenced block: the lines from first up to, and without, end.
type block struct {
	// info is what follows the fence, such as "console" or "json file=hello.json".
	info       string
	first, end int
	// section is the ## heading above, chapter the ### heading, each without its marks.
	section, chapter string
}

type heading struct {
	text string
	line int
}

// readPage parses a page.
func readPage(t *testing.T, name string) *page {
	t.Helper()
	source, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	p := &page{name: name, lines: strings.Split(string(source), "\n")}
	var section, chapter string
	var open int
	var fence string // of the block that is open
	for i, line := range p.lines {
		info := strings.TrimLeft(line, "`")
		switch marks := line[:len(line)-len(info)]; {
		case fence != "" && line == fence:
			p.blocks[len(p.blocks)-1].end, fence = i, ""
		case fence != "":
		case len(marks) >= 3:
			p.blocks, open, fence = append(p.blocks, block{info: info, first: i + 1, section: section, chapter: chapter}), i, marks
		case strings.HasPrefix(line, "## "):
			section, chapter = line[3:], ""
			p.headings = append(p.headings, heading{line, i})
		case strings.HasPrefix(line, "### "):
			chapter = line[4:]
			p.headings = append(p.headings, heading{line, i})
		}
	}
	if fence != "" {
		t.Fatalf("%s:%d: this block has no end", name, open+1)
	}
	return p
}

// file is the name of the file that the block holds, or "".
func (b block) file() string {
	_, name, _ := strings.Cut(b.info, " file=")
	return name
}

// text is the block's content.
func (p *page) text(b block) string { return strings.Join(p.lines[b.first:b.end], "\n") + "\n" }

// sample is one command of a console block and what it prints.
type sample struct {
	command string
	want    []string
	line    int
}

// samples splits a console block.
func (p *page) samples(t *testing.T, b block) []sample {
	t.Helper()
	var all []sample
	for i, line := range p.lines[b.first:b.end] {
		command, found := strings.CutPrefix(line, "$ ")
		switch {
		case found:
			all = append(all, sample{command: command, line: b.first + i})
		case len(all) == 0:
			t.Fatalf("%s:%d: a console block begins with a command, $ …", p.name, b.first+i+1)
		default:
			all[len(all)-1].want = append(all[len(all)-1].want, line)
		}
	}
	return all
}

// cut stands for the rest of a line.
const cut = "…"

// matches says whether the lines that a command printed are those of the page.
func matches(want, got []string) bool { return slices.EqualFunc(want, got, matchesLine) }

func matchesLine(want, got string) bool {
	begin, isCut := strings.CutSuffix(want, cut)
	return want == got || isCut && strings.HasPrefix(got, begin)
}

// rewritten is what is to stand on the page for a command's output: each line as it stands there when that still
// matches, else as it was printed.
func rewritten(want, got []string) []string {
	lines := slices.Clone(got)
	for i, line := range got {
		if at := slices.IndexFunc(want, func(w string) bool { return matchesLine(w, line) }); at >= 0 {
			lines[i] = want[at]
		}
	}
	return lines
}

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		want, got string
		ok        bool
	}{
		{"a", "a", true},
		{"a", "b", false},
		{"a", "a\nb", false},
		{"a\nb", "a", false},
		{"a…", "abc", true},
		{"a…", "a", true},
		{"ab…", "a", false},
		{"a…c", "abc", false},
		{"a…\nc", "abc\nc", true},
		{"a…", "a\nb", false},
	} {
		if ok := matches(strings.Split(c.want, "\n"), strings.Split(c.got, "\n")); ok != c.ok {
			t.Errorf("%q for %q: %v", c.got, c.want, ok)
		}
	}
}
