package engine

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/plan"
)

// digest is the hash of all that decides what a node, or an item of its batch, does: its type, its definition, its
// resolved parameters. A secret in the definition counts by its name and not by its value; in the parameters only that
// there is one counts, for so it stands in the outputs of a checkpoint, which they may come from.
func (e *execution) digest(l *frame, a *nodeRun, p *boundNode) string {
	params, _ := e.Redactor.JSON(p.Params) // what stands under a secret's name is one from here on
	parts := []json.RawMessage{rawjson.Quote(a.node.Type), e.Redactor.Named(a.node.Params), params}
	if a.node.Loop != nil {
		parts = append(parts, definition(a.node.Loop))
		uses, _ := plan.Uses(a.node)
		for _, u := range uses { // later iterations may read what the first does not
			if v, ok := l.inputs[u.Ref.Root]; ok {
				v, _ = e.Redactor.JSON(v)
				parts = append(parts, v)
			}
		}
	}
	if p.sub != nil {
		parts = append(parts, rawjson.Quote(e.subDigest(p.sub)))
	}
	return hash(parts...)
}

// subDigest is the hash of a workflow and of all that its nodes run.
func (e *execution) subDigest(s *Sub) string {
	if digest, ok := e.digests[s]; ok {
		return digest
	}
	parts := []json.RawMessage{rawjson.Quote(s.Digest)}
	for _, id := range slices.Sorted(maps.Keys(s.Subs)) {
		parts = append(parts, rawjson.Quote(id), rawjson.Quote(e.subDigest(s.Subs[id])))
	}
	e.digests[s] = hash(parts...)
	return e.digests[s]
}

// definition is a part of a workflow as JSON.
func definition[T workflow.Loop | workflow.Batch](part *T) json.RawMessage {
	raw, err := rawjson.Marshal(part)
	if err != nil {
		return nil // it was read from JSON
	}
	return raw
}

// batchDigest is the hash of a batch as a whole: of all its items, which stand in its results, and what each is to do.
func (e *execution) batchDigest(l *frame, a *nodeRun) (string, error) {
	parts := []json.RawMessage{rawjson.Quote(a.node.Type), e.Redactor.Named(a.node.Params), definition(a.node.Batch)}
	for i, item := range a.batch.items {
		digest, err := e.itemDigest(l, a, i)
		if err != nil {
			return "", err
		}
		item, _ = e.Redactor.JSON(item)
		parts = append(parts, item, json.RawMessage(digest))
	}
	return hash(parts...), nil
}

func hash(parts ...json.RawMessage) string {
	h := sha256.New()
	var buf bytes.Buffer
	for _, part := range parts {
		buf.Reset()
		if json.Compact(&buf, part) != nil {
			buf.Reset()
			buf.Write(part)
		}
		_, _ = h.Write(append(strconv.AppendInt(buf.AvailableBuffer(), int64(buf.Len()), 10), ' '))
		_, _ = h.Write(buf.Bytes())
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}
