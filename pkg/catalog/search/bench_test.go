package search_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/catalog/search"
)

// BenchmarkSearch searches 10,000 documents of 100 groups.
func BenchmarkSearch(b *testing.B) {
	verbs := strings.Fields("read_file create_issue list_channels query_table send_message update_page delete_row search_code")
	names := make([]string, 10_000)
	var builder search.Builder
	for i := range names {
		names[i] = fmt.Sprint(verbs[i%len(verbs)], "_", i)
		builder.Add(search.Document{
			Name: names[i], Group: fmt.Sprint("mcp-server-", i%100), Params: strings.Fields("path owner repo limit filter"),
			Description: fmt.Sprintf("Does %s for item %d of the project. It answers with a page of results, word%d and word%d.", verbs[i%len(verbs)], i, i%5000, i%4999),
		})
	}
	x := builder.Index()
	for name, query := range map[string]string{
		"read file":      "read file",
		"mistyped words": "creat an isue on githbu",
		"a sentence":     "what did people say about the pull request in the chat",
		"unknown word":   "zzzz",
		"unknown words":  strings.Repeat("qwrtya qwrtyb qwrtyc qwrtyd qwrtye qwrtyf qwrtyg qwrtyh ", 100),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				search.Search(query, func(_, doc int) string { return names[doc] }, x)
			}
		})
	}
}
