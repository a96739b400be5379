package engine

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"hash"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/plan"
)

// digester computes input digests: hashes of everything that decides what a node does. A node whose digest is that of an
// earlier run need not run again.
type digester struct {
	redactor *redact.Redactor
	// workflows has the digests that workflow has computed.
	workflows map[*Sub]string
}

// node returns the digest of a node, or of an item of its batch: of its type, its definition, and its resolved parameters.
// A secret in the definition counts by its name and not by its value. In the parameters only its presence counts, for the
// parameters may come from a checkpoint's outputs, which are without secrets.
func (d *digester) node(nr *nodeRun, bound *boundNode) (string, error) {
	d.redactor.AddCredentialsOf(bound.Params)
	params, _ := d.redactor.JSON(bound.Params) // from here on, what stands under a secret's name counts as a secret
	h := sha256.New()
	hashParts(h, rawjson.Quote(nr.node.Type), d.redactor.Named(nr.node.Params))
	if before, after, text := bound.Long(params); text == nil {
		hashParts(h, params)
	} else if err := hashLong(h, before, after, text); err != nil {
		return "", err
	}
	if nr.node.Loop != nil {
		hashParts(h, definition(nr.node.Loop))
		uses, _ := plan.Uses(nr.node)
		for _, u := range uses { // later iterations may read what the first does not
			if v, ok := nr.frame.inputs[u.Ref.Root]; ok {
				v, _ = d.redactor.JSON(v)
				hashParts(h, v)
			}
		}
	}
	if bound.sub != nil {
		hashParts(h, rawjson.Quote(d.workflow(bound.sub)))
	}
	return sumOf(h), nil
}

// workflow returns the digest of a workflow and of all workflows that its nodes run.
func (d *digester) workflow(s *Sub) string {
	if digest, ok := d.workflows[s]; ok {
		return digest
	}
	parts := []json.RawMessage{rawjson.Quote(s.Digest)}
	for _, id := range slices.Sorted(maps.Keys(s.Subs)) {
		parts = append(parts, rawjson.Quote(id), rawjson.Quote(d.workflow(s.Subs[id])))
	}
	d.workflows[s] = hashOf(parts...)
	return d.workflows[s]
}

// batch returns the digest of a batch as a whole: of its definition, and of each item, which its outputs repeat, with the
// item's digest.
func (d *digester) batch(nr *nodeRun, itemDigest func(nr *nodeRun, i int) (string, error)) (string, error) {
	parts := []json.RawMessage{rawjson.Quote(nr.node.Type), d.redactor.Named(nr.node.Params), definition(nr.node.Batch)}
	for i, item := range nr.batch.items {
		digest, err := itemDigest(nr, i)
		if err != nil {
			return "", err
		}
		item, _ = d.redactor.JSON(item)
		parts = append(parts, item, json.RawMessage(digest))
	}
	return hashOf(parts...), nil
}

// question returns the digest of what a person is asked about. Another question, or another node, needs another answer.
func (d *digester) question(nr *nodeRun, q *Question) string {
	parts := []json.RawMessage{rawjson.Quote(nr.node.Type), d.redactor.Named(nr.node.Params), rawjson.Quote(d.redactor.Text(q.Text)), q.Params}
	for _, c := range q.Choices {
		parts = append(parts, rawjson.Quote(c))
	}
	return hashOf(parts...)
}

// keyLength is the length of a node key, in hexadecimal digits.
const keyLength = 32

// nodeKey returns the key of an attempt: a hash of the first run of the chain of resumes, the node's path, the item, the
// iteration, the input digest, and how often somebody has asked to run the node again after it had ended. It is the same for
// every attempt that has the same effect.
func nodeKey(firstRun, path string, step plan.Step, inputDigest string, reruns int) string {
	parts := []json.RawMessage{rawjson.Quote(firstRun), rawjson.Quote(path), integer(step.Item), integer(step.Iteration), rawjson.Quote(inputDigest)}
	if reruns > 0 {
		parts = append(parts, integer(reruns))
	}
	sum := hashOf(parts...)
	return strings.TrimPrefix(sum, hashPrefix)[:keyLength]
}

// definition returns a part of a workflow as JSON.
func definition[T workflow.Loop | workflow.Batch](part *T) json.RawMessage {
	raw, err := rawjson.Marshal(part)
	if err != nil {
		return nil // it was read from JSON
	}
	return raw
}

// hashPrefix names the function of a hash.
const hashPrefix = "sha256:"

// hashOf returns the SHA-256 of parts.
func hashOf(parts ...json.RawMessage) string {
	h := sha256.New()
	hashParts(h, parts...)
	return sumOf(h)
}

// hashParts adds parts to a hash, each compacted if it is JSON and preceded by its length.
func hashParts(h hash.Hash, parts ...json.RawMessage) {
	var buf bytes.Buffer
	for _, part := range parts {
		buf.Reset()
		buf.Grow(len(part))
		if json.Compact(&buf, part) != nil {
			buf.Reset()
			buf.Write(part)
		}
		_, _ = h.Write(append(strconv.AppendInt(buf.AvailableBuffer(), int64(buf.Len()), 10), ' '))
		_, _ = h.Write(buf.Bytes())
	}
}

func sumOf(h hash.Hash) string { return hashPrefix + hex.EncodeToString(h.Sum(nil)) }
