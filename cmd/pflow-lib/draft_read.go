package main

import (
	"io"
	"unicode/utf8"

	"github.com/pflow-suite/pflow/pkg/catalog/page"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type draftRead struct {
	Name   string `arg:"" help:"The draft's name." complete:"draft"`
	Form   string `help:"Read the file of this form, if there is one of the other form too." enum:"json,markdown," default:"" placeholder:"json|markdown"`
	Cursor string `help:"The next_cursor of the answer to go on from." placeholder:"CURSOR"`
}

// draftText is a draft with its text, or a part of that. Bytes is the size of the whole text.
type draftText struct {
	Name       string `json:"name"`
	Saved      bool   `json:"saved"` // always false
	Hidden     bool   `json:"hidden,omitempty"`
	Form       string `json:"form"`
	Path       string `json:"path"` // relative to the home
	Bytes      int    `json:"bytes"`
	Content    string `json:"content"`
	NextCursor string `json:"next_cursor,omitempty"`
}

// Help returns more text for --help.
func (draftRead) Help() string {
	return `With --max-bytes, only so much of the text is printed, and next_cursor says where to go on.`
}

// Run prints the draft.
func (c *draftRead) Run(app *cli.App) error {
	lib, _, err := open(app)
	if err != nil {
		return err
	}
	draft, err := lib.DraftOf(c.Name, c.Form)
	if err != nil {
		return err
	}
	text, err := draft.Source()
	if err != nil {
		return err
	}
	at, err := offsetOf(c.Cursor, text)
	if err != nil {
		return err
	}
	d := draftText{Name: draft.Name, Hidden: draft.Hidden, Form: draft.Form(), Path: draft.HomePath(), Bytes: len(text)}
	maxBytes := app.MaxBytes
	if !app.JSON() { // as text there is no next_cursor
		maxBytes = 0
	}
	d.fill(text, at, maxBytes)
	return app.Document(d, func(w io.Writer) { _, _ = io.WriteString(w, d.Content) })
}

// fill sets the content: the text from an offset, and no more of it than the answer has room for.
func (d *draftText) fill(text []byte, at, maxBytes int) {
	d.Content = string(text[at:])
	if raw, err := rawjson.Marshal(d); maxBytes == 0 || err == nil && len(raw) < maxBytes {
		return
	}
	d.Content, d.NextCursor = "", cursorAt(len(text), text)
	raw, _ := rawjson.Marshal(d)
	room, end := maxBytes-len(raw)-1, at
	for end < len(text) {
		_, size := utf8.DecodeRune(text[end:])
		quoted, _ := rawjson.Marshal(string(text[end : end+size]))
		if room -= len(quoted) - len(`""`); room < 0 {
			break
		}
		end += size
	}
	d.Content, d.NextCursor = string(text[at:end]), cursorAt(end, text)
}

// cursorAt returns the cursor for an offset in a text. It is one of this text only.
func cursorAt(offset int, text []byte) string {
	return page.Cursor(string(text), page.After(offset, noKey))
}

// offsetOf returns the offset that a cursor stands for in a text; "" is its beginning.
func offsetOf(cursor string, text []byte) (int, error) {
	places, err := page.Places(cursor, string(text), 1)
	if err != nil {
		return 0, fault.New(fault.Usage, "The cursor %q is not one of this draft as it is now", fault.Truncate(cursor, 60)).
			Suggest("Read the draft from its beginning, without a cursor")
	}
	return places[0].In(len(text), noKey), nil
}

// noKey returns the key of a place in a text, which has none.
func noKey(int) string { return "" }
