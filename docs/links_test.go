package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestLinks: a link of a page leads to a file that is there and, behind a #, to a heading of a page.
func TestLinks(t *testing.T) {
	pages, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(pages, "../README.md") {
		p := readPage(t, name)
		for i, text := range p.lines {
			for _, m := range regexp.MustCompile(`\]\(([^)\s]+)\)`).FindAllStringSubmatch(text, -1) {
				if strings.Contains(m[1], "://") || p.fenced(i) {
					continue
				}
				file, anchor, _ := strings.Cut(m[1], "#")
				to := p
				if file != "" {
					path := filepath.Join(filepath.Dir(name), file)
					if _, err := os.Stat(path); err != nil {
						t.Errorf("%s:%d: %s leads nowhere", name, i+1, m[1])
						continue
					}
					if anchor != "" {
						to = readPage(t, path)
					}
				}
				if anchor != "" && !slices.ContainsFunc(to.headings, func(h heading) bool { return h.anchor() == anchor }) {
					t.Errorf("%s:%d: %s leads to no heading", name, i+1, m[1])
				}
			}
		}
	}
}

// fenced says whether a line stands in a block.
func (p *page) fenced(line int) bool {
	return slices.ContainsFunc(p.blocks, func(b block) bool { return b.first <= line && line < b.end })
}

// anchor is what a link to the heading has behind its #.
func (h heading) anchor() string {
	words := strings.ToLower(strings.TrimLeft(h.text, "# "))
	return strings.ReplaceAll(regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(words, ""), " ", "-")
}
