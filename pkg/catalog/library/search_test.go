package library

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSearch(t *testing.T) {
	describe := func(s string) string { return strings.Replace(hello, "Says hello", s, 1) }
	l, _ := open(t, map[string]string{
		"library/pr-analyzer.json": describe("Analyzes pull requests"), "library/zip.json": describe("Packs a folder"), "library/bad.json": "{",
		"workflows/zip.json": describe("Opens pull requests"), "workflows/idea.json": describe("Packs requests"), "workflows/worse.json": "[",
	})
	for query, want := range map[string][]string{
		"":             {"idea draft", "pr-analyzer", "zip"},
		"requests":     {"idea draft", "pr-analyzer"},
		"pack folders": {"zip"},
		"pull":         {"pr-analyzer"},
		"zebra":        {},
	} {
		found, broken, err := l.Search(query)
		if err != nil || len(broken) != 2 || broken[0].Error == nil || broken[0].Name != "bad" || broken[1].Name != "worse" {
			t.Errorf("%q: %v %v", query, broken, err)
		}
		got := []string{}
		for _, w := range found {
			if name := w.Name; w.Saved {
				got = append(got, name)
			} else {
				got = append(got, name+" draft")
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%q: %s", query, d)
		}
	}
}
