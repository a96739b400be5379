package search_test

import (
	"testing"

	"github.com/pflow-suite/pflow/pkg/catalog/search"
)

// A document that has several of the meanings of a word is a better match than one that has only one of them.
func TestMeaningsThatBelongTogether(t *testing.T) {
	documents := []search.Document{
		{Name: "create_branch", Description: "Create a branch"},
		{Name: "create_page", Description: "Create a page"},
		{Name: "list_directory", Description: "List a directory"},
		{Name: "remake_directory", Description: "Create a directory"},
	}
	if got := found(documents, "mkdir"); len(got) != 4 || got[0] != "remake_directory" {
		t.Errorf("%v", got)
	}
}

// What stands before a preposition is wanted, rather than what stands after it.
func TestWordsAfterAPreposition(t *testing.T) {
	documents := []search.Document{
		{Name: "page", Description: "Has to do with a page"},
		{Name: "remark", Description: "Has to do with a remark"},
	}
	for query, want := range map[string]string{"a remark on a page": "remark", "a page of a remark": "page", "the page for remarks": "page"} {
		if got := found(documents, query); len(got) != 2 || got[0] != want {
			t.Errorf("%q: %v", query, got)
		}
	}
}

// A value in a query says what kind of thing is wanted. Its own words count little.
func TestValuesInAQuery(t *testing.T) {
	documents := []search.Document{
		{Name: "apply_manifest", Description: "Apply a YAML manifest"},
		{Name: "checkout", Description: "Get a branch"},
		{Name: "find_channel", Description: "Get a channel"},
		{Name: "get_commit", Description: "Get a commit"},
		{Name: "open_url", Description: "Get a URL"},
		{Name: "read_file", Description: "Get a file"},
	}
	for query, want := range map[string]string{
		"what is in manifest.yaml": "read_file", "bring me https://branch.example/channel": "open_url", "inside of #branch": "find_channel",
		"what about 12ab34cd": "get_commit", `see the commit "apply a branch"`: "get_commit",
	} {
		if got := found(documents, query); len(got) == 0 || got[0] != want {
			t.Errorf("%q: %v, want %s first", query, got, want)
		}
	}
}

// A document with exactly the name that is searched for comes first, also if the name looks like a value.
func TestANameThatLooksLikeAValue(t *testing.T) {
	documents := []search.Document{{Name: "read_file", Description: "Read a file"}, {Name: "report.csv", Description: "Sum up"}}
	for _, query := range []string{"report.csv", "report csv"} {
		if got := found(documents, query); len(got) == 0 || got[0] != "report.csv" {
			t.Errorf("%q: %v", query, got)
		}
	}
}

// A verb and its particle mean the same together, whether they stand together or not.
func TestAVerbAndItsParticle(t *testing.T) {
	documents := []search.Document{
		{Name: "append_row", Description: "Append a row"},
		{Name: "delete_row", Description: "Delete a row"},
		{Name: "take_row", Description: "Take a row"},
	}
	for query, want := range map[string]string{
		"throw away the row": "delete_row", "throw the row away": "delete_row", "throw the very last row away": "delete_row",
		"take the row": "take_row",
	} {
		if got := found(documents, query); len(got) == 0 || got[0] != want {
			t.Errorf("%q: %v, want %s first", query, got, want)
		}
	}
}

// A short or another form of a word counts nearly as much as the word, and more than a synonym.
func TestShortForms(t *testing.T) {
	documents := []search.Document{
		{Name: "create_merge_request", Description: "Create a merge request"},
		{Name: "create_pull_request", Description: "Create a pull request"},
	}
	for query, want := range map[string]string{"new MR": "create_merge_request", "new PR": "create_pull_request", "new pull request": "create_pull_request"} {
		if got := found(documents, query); len(got) != 2 || got[0] != want {
			t.Errorf("%q: %v, want %s first", query, got, want)
		}
	}
}

// A query that names a group does not want what another group has.
func TestTheGroupThatAQueryNames(t *testing.T) {
	documents := []search.Document{
		{Name: "read_page_text", Group: "blog", Description: "Read the text of a page"},
		{Name: "read_section", Group: "manual", Description: "Read a section"},
	}
	for query, want := range map[string]string{"read the text of a page": "read_page_text", "read the text of the manual": "read_section", "the page in the manual, read its text": "read_section"} {
		if got := found(documents, query); len(got) == 0 || got[0] != want {
			t.Errorf("%q: %v, want %s first", query, got, want)
		}
	}
}
