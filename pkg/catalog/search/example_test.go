package search_test

import (
	"fmt"

	"github.com/pflow-suite/pflow/pkg/catalog/search"
)

func Example() {
	documents := []search.Document{
		{Name: "read-file", Description: "Read a file"},
		{Name: "write-file", Description: "Write a file"},
		{Name: "http", Description: "Send an HTTP request"},
	}
	var b search.Builder
	for _, d := range documents {
		b.Add(d)
	}
	name := func(_, document int) string { return documents[document].Name }
	for _, hit := range search.Search("raeding files", name, b.Index()) {
		fmt.Println(documents[hit.Document].Name)
	}
	// Output:
	// read-file
	// write-file
}
