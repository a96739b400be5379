package suitetools

import (
	"fmt"
	"strconv"
)

// maxPage is the most bytes of a document that is divided into pages or shortened.
const maxPage = 8192

// minPage is the least limit in bytes that the commands accept, besides 0 for none.
const minPage = 1024

// pageBytes returns the limit in bytes for a command: the given one, at least minPage, or maxPage if none is given. 0 is no limit.
func pageBytes(given *int) int {
	if given == nil {
		return maxPage
	}
	if *given == 0 {
		return 0
	}
	return max(*given, minPage)
}

// The properties of input and output schemas of tools that answer in pages.
const (
	cursorProperty = `"cursor":{"type":"string","description":"next_cursor of the page before, with the same other arguments: continues after it"}`
	pageProperties = `"total":{"type":"integer","description":"how many results all pages have"},` +
		`"next_cursor":{"type":"string","description":"continues after this page, as the argument cursor; absent on the last page"}`
)

// limitProperty returns the property limit of an input schema.
func limitProperty(what string) string {
	return fmt.Sprintf(`"limit":{"type":"integer","minimum":0,"description":"the most %s in an answer; 0 answers with everything at once, however much that is"}`, what)
}

// pageArguments are the arguments of a tool that answers in pages.
type pageArguments struct {
	Limit  *int   `json:"limit"`
	Cursor string `json:"cursor"`
}

// flags returns the arguments as flags. With limit 0 the answer has no limit in bytes either.
func (a pageArguments) flags() (flags []string) {
	most := maxPage
	if a.Limit != nil && *a.Limit == 0 {
		most = 0
	}
	flags = append(flags, "--max-bytes="+strconv.Itoa(most))
	if a.Limit != nil {
		flags = append(flags, "--limit="+strconv.Itoa(*a.Limit))
	}
	if a.Cursor != "" {
		flags = append(flags, "--cursor="+a.Cursor)
	}
	return flags
}
