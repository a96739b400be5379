package main

import (
	"io"
	"strings"

	"github.com/pflow-suite/pflow/pkg/catalog/page"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

// pageFlags choose a page of a list, together with --max-bytes.
type pageFlags struct {
	Limit  *int   `help:"Print a page of at most N entries, as a document with total and next_cursor; 0 for all." placeholder:"N"`
	Cursor string `help:"Print the page after the one that has this next_cursor." placeholder:"CURSOR"`
}

// limits returns the limits of a page, and false if no page is asked for.
func (f *pageFlags) limits(app *cli.App) (page.Limits, bool) {
	l := page.Limits{Bytes: app.MaxBytes}
	if f.Limit != nil {
		l.Entries = *f.Limit
	}
	return l, f.Limit != nil || l.Bytes > 0 || f.Cursor != ""
}

// pageEnd is what a page has besides its entries.
type pageEnd struct {
	Total      int    `json:"total"`
	NextCursor string `json:"next_cursor,omitempty"`
	// Warnings are what could not be read.
	Warnings []*fault.Fault `json:"warnings,omitempty"`
}

// listing is a list that can be printed in pages.
type listing[T any] struct {
	items []T
	// key tells an entry from the others.
	key func(T) string
	// query is what the list is the answer to. A cursor of another query is refused.
	query string
	// warnings are printed with a page.
	warnings []*fault.Fault
	// document returns a page as it is printed.
	document func(items []T, end pageEnd) any
	// shorten returns an entry that takes at most the given number of bytes. It is called if no page can hold the entry.
	shorten func(item T, bytes int) T
	// text writes entries for people.
	text func(w io.Writer, items []T)
}

// print prints the whole list or, if the flags ask for it, one page.
func (l *listing[T]) print(app *cli.App, f *pageFlags) error {
	limits, given := f.limits(app)
	if !given {
		return cli.List(app, l.items, func(w io.Writer) { l.text(w, l.items) })
	}
	if err := limits.Check(); err != nil {
		return err
	}
	places, err := page.Places(f.Cursor, l.query, 1)
	if err != nil {
		return err
	}
	key := func(i int) string { return l.key(l.items[i]) }
	at, end := places[0].In(len(l.items), key), pageEnd{Total: len(l.items), Warnings: l.warnings}
	room := limits.Room(page.Size(l.document([]T{}, pageEnd{end.Total, strings.Repeat("x", page.MaxCursor), end.Warnings})))
	items, _, err := page.Fill(at, len(l.items), limits.Entries, room, true, func(i int) (T, error) {
		if page.Size(l.items[i]) < room {
			return l.items[i], nil
		}
		return l.shorten(l.items[i], room-1), nil
	})
	if err != nil {
		return err
	}
	if items == nil {
		items = []T{}
	}
	if next := at + len(items); next < len(l.items) {
		end.NextCursor = page.Cursor(l.query, page.After(next, key))
	}
	return app.Document(l.document(items, end), func(w io.Writer) { l.text(w, items) })
}
