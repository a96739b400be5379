package search_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/catalog/search"
)

// found returns the names of the documents that a query finds, the best first.
func found(documents []search.Document, query string) (names []string) {
	var b search.Builder
	for _, d := range documents {
		b.Add(d)
	}
	for _, h := range search.Search(query, func(_, doc int) string { return documents[doc].Name }, b.Index()) {
		names = append(names, documents[h.Document].Name)
	}
	return names
}

func TestMeanings(t *testing.T) {
	documents := []search.Document{
		{Name: "create_pull_request", Group: "github", Description: "Create a new pull request"},
		{Name: "list_pull_requests", Group: "github", Description: "List pull requests"},
		{Name: "network_request", Group: "browser", Description: "Return a request of the page"},
		{Name: "delete_row", Group: "tables", Description: "Delete a row of a table"},
		{Name: "search", Group: "tables", Description: "Query the records of a table"},
		{Name: "directory_tree", Group: "files", Description: "Show a directory and all below it"},
		{Name: "get_forecast", Group: "weather", Description: "Get the weather of the next days"},
	}
	for query, want := range map[string]string{
		"erase a row":           "delete_row",          // a synonym
		"wipe a row":            "delete_row",          // one in one direction only
		"merge request":         "create_pull_request", // a phrase
		"new PR":                "create_pull_request", // a short form of a phrase
		"all PRs":               "list_pull_requests",  // a plural
		"look up table entries": "search",              // a phrase for a word
		"hierarchy of folders":  "directory_tree",      //
		"is it sunny":           "get_forecast",        // a question
		"hierarhcy of folders":  "directory_tree",      // a mistyped synonym
		"creaet a pull request": "create_pull_request", // a mistyped word
		"pull requests":         "list_pull_requests",  //
		"GitHub pull request":   "create_pull_request", // the shorter of two names that fit, and the group
		"browser request":       "network_request",     // the group
		"request of a web page": "network_request",     //
	} {
		if got := found(documents, query); len(got) == 0 || got[0] != want {
			t.Errorf("%q: %v, want %s first", query, got, want)
		}
	}
}

// A word that only some documents of a group have lifts the others of the group above those of other groups.
func TestDocumentsOfAGroupAreRelated(t *testing.T) {
	documents := []search.Document{
		{Name: "a_show", Group: "a", Description: "Show an item"},
		{Name: "b_show", Group: "b", Description: "Show an item"},
		{Name: "b_kettle", Group: "b", Description: "Boil water in the kettle"},
		{Name: "b_cold", Group: "b", Description: "Cool the kettle"},
	}
	got := found(documents, "show kettle")
	if a, b := slices.Index(got, "a_show"), slices.Index(got, "b_show"); b < 0 || a >= 0 && a < b {
		t.Errorf("%v", got)
	}
	for i := range documents { // without groups they are not related
		documents[i].Group = ""
	}
	got = found(documents, "show kettle")
	if a, b := slices.Index(got, "a_show"), slices.Index(got, "b_show"); a < 0 || b < a {
		t.Errorf("%v", got)
	}
}

// The first sentence of a description counts more than the others.
func TestTheFirstSentenceCountsMore(t *testing.T) {
	for _, rest := range []string{". ", ".\n", "\n"} {
		documents := []search.Document{
			{Name: "later", Description: "Boil water" + rest + "Not for zebras"},
			{Name: "whole", Description: "Feed the zebras" + rest + "Not for water"},
		}
		if got := found(documents, "zebra"); !slices.Equal(got, []string{"whole", "later"}) {
			t.Errorf("%q: %v", rest, got)
		}
	}
}

// Each line of the thesaurus is a group of different words and phrases.
func TestTheThesaurusIsWellFormed(t *testing.T) {
	source, err := os.ReadFile("thesaurus.txt")
	if err != nil {
		t.Fatal(err)
	}
	word, lines := regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`), map[string]int{}
	for n, line := range strings.Split(strings.TrimSuffix(string(source), "\n"), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		if before := lines[line]; before > 0 {
			t.Errorf("line %d is line %d", n+1, before)
		}
		lines[line] = n + 1
		sides := regexp.MustCompile(" [=>~] ").Split(line, -1)
		if len(sides) > 2 || len(sides) == 1 && len(strings.Fields(line)) < 2 {
			t.Errorf("line %d is not a group: %s", n+1, line)
		}
		for _, side := range sides {
			words := strings.Fields(side)
			for i, w := range words {
				if !word.MatchString(w) || slices.Contains(words[:i], w) {
					t.Errorf("line %d: %q is not a word, or there twice", n+1, w)
				}
			}
			if len(words) == 0 {
				t.Errorf("line %d has an empty side", n+1)
			}
		}
	}
}
