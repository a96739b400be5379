package search

import "testing"

func TestActsOfTools(t *testing.T) {
	for name, want := range map[[2]string]act{
		{"get_issue", "Get details of an issue"}:                        reads,
		{"browser_tabs", "List, create, close, or select a tab"}:        reads | creates | deletes | changes,
		{"write_query", "Execute an INSERT, UPDATE, or DELETE query"}:   creates | changes | runs | deletes,
		{"create_or_update_file", "Create or update a single file"}:     creates | changes,
		{"API-post-search", "Search by title"}:                          creates | reads,
		{"maps_place_details", "About a place. Deletes nothing, or so"}: 0,
		{"", ""}: 0,
	} {
		lead, _ := firstSentence(name[1])
		if got := actsOf(name[0], lead); got != want {
			t.Errorf("%q: %05b, want %05b", name, got, want)
		}
	}
}

func TestActsOfQueries(t *testing.T) {
	for query, want := range map[string]act{
		"what changed": reads, "which files did I delete": reads, "please show the log": reads,
		"I want to erase a row": deletes | changes, "rename it": creates | changes | runs, "kettle": 0, "": 0, "what": 0,
		"take the row away": deletes | changes, "take out a row": deletes | changes, "get rid of it": deletes | changes, "get a row": reads,
		"check in the row": creates | changes, "check the row": reads, "tell the team": creates | changes, "tell me more": 0, "give us the row": 0,
		"several rows": 0, "closed rows": 0, "the row, please rename it": creates | changes | runs, "a row to delete": deletes | changes, "the row to show": 0,
		"bring the row up to date": creates | changes, "feed the cat": 0, "and": 0, "to": 0, "row to": 0,
	} {
		words := Words(query)
		stems := make([]string, len(words))
		for i, w := range words {
			stems[i] = stem(w)
		}
		if got := actOfQuery(words, stems); got != want {
			t.Errorf("%q: %05b, want %05b", query, got, want)
		}
	}
}

// The stems in the tables of acts are stems.
func TestActsAreOfStems(t *testing.T) {
	for word, want := range map[string]act{
		"delete": deletes, "deleting": deletes, "remove": deletes, "listing": reads, "retrieve": reads, "query": reads, "creates": creates,
		"updated": changes, "archived": deletes | changes, "execution": runs, "erase": 0, "browse": reads, "uninstall": deletes, "execute": runs, "apply": creates | changes, "schedule": creates,
	} {
		if got := actOf(stem(word)); got != want {
			t.Errorf("%s: %05b, want %05b", word, got, want)
		}
	}
}
