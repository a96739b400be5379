package engine

import (
	"encoding/json"
	"fmt"
	"hash"
	"io"

	"github.com/pflow-suite/pflow/pkg/engine/node"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// long returns a function that returns the text that a reference stands for if it is too long to be held in memory, else nil. A
// person who is asked about a node sees its parameters, so that they are held for such a node.
func (b *values) long(nr *nodeRun) func(ref template.Ref) *node.LongText {
	if nr.node.Approval != nil {
		return nil
	}
	return func(ref template.Ref) *node.LongText {
		raw, ok := nr.frame.longAt(ref)
		if !ok || ref.Root == nr.id() {
			return nil
		}
		// Outputs of up to longOutputs are references in a resumed run, but not in the run that has made them.
		if r, _ := event.ReferenceOf(raw); r.Text() && r.Bytes > longOutputs {
			return b.store.long(r)
		}
		return nil
	}
}

// long returns the text of a reference, or nil if it cannot be read.
func (s *store) long(ref event.Reference) *node.LongText {
	stored := ref
	text := &node.LongText{Open: func() (io.ReadCloser, error) { return s.journal.OpenBlob(stored.Blob, stored.Bytes) }}
	text.Public = text.Open
	if isPrivate(ref.Blob) {
		v, _ := s.private.get(ref.Blob)
		stored, _ = event.ReferenceOf(v.public)
		text.Secret = true
		text.Open = func() (io.ReadCloser, error) { return v.scratch.Open(v.size) }
	}
	for _, open := range []func() (io.ReadCloser, error){text.Open, text.Public} {
		r, err := open()
		if err != nil {
			return nil
		}
		_ = r.Close()
	}
	return text
}

// hashLong adds a part to a hash, as hashParts does. The part has the long text as a JSON string between before and after.
func hashLong(h hash.Hash, before, after json.RawMessage, text *node.LongText) error {
	length := &byteCounter{}
	if err := copyQuoted(length, text); err != nil {
		return err
	}
	_, _ = fmt.Fprintf(h, "%d %s", len(before)+length.n+len(after), before)
	if err := copyQuoted(h, text); err != nil {
		return err
	}
	_, _ = h.Write(after)
	return nil
}

type byteCounter struct{ n int }

func (c *byteCounter) Write(p []byte) (int, error) {
	c.n += len(p)
	return len(p), nil
}

// copyQuoted copies the text, as it is written for others, as a JSON string.
func copyQuoted(to io.Writer, text *node.LongText) error {
	r, err := text.Public()
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	_, err = io.Copy(to, rawjson.QuotingReader(r))
	return err
}
