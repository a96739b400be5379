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

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/engine/flow"
	"github.com/pflow-suite/pflow/pkg/engine/resume"
	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/plan"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// Input digests are hashes of everything that changes what a node puts out. How a node is scheduled, retried, limited, spelled or described
// does not count. A node whose digest is that of an earlier run need not run again.

// keyVersion is the version of the digests that node keys are made of, as run_started has it. Runs of before have none.
const keyVersion = 2

// digest returns the digest of a node, of an iteration of it, or of an item of its batch: of its type and its resolved parameters as values.
// A secret counts by its name: its value may come from outputs that were written without it.
func (b *values) digest(nr *nodeRun, bound *boundNode) (string, error) {
	b.store.redactor.AddCredentialsOf(bound.Params)
	params, _ := b.store.redactor.JSON(bound.Params) // from here on, what stands under a secret's name counts as a secret
	before, after, long := bound.Long(params)
	if long != nil {
		params = slices.Concat(before, json.RawMessage("null"), after)
	}
	h := sha256.New()
	hashParts(h, rawjson.Quote(nr.node.Type), json.RawMessage(strconv.FormatBool(nr.node.UnsafeTemplates)), b.secrets(nr), plainParams(nr, params))
	if long != nil {
		if err := copyQuoted(h, long); err != nil {
			return "", err
		}
	}
	if bound.sub != nil {
		hashParts(h, rawjson.Quote(b.workflow(bound.sub)))
	}
	return resume.Digest(sumOf(h), nr.frame.lineage(nr.id())), nil
}

// plainParams returns parameters in one spelling, without how long the node may take.
func plainParams(nr *nodeRun, params json.RawMessage) json.RawMessage {
	values, inline := gjson.ParseBytes(params), ""
	if named, ok := workflow.SubOf(params); ok && named.Inline != nil && nr.isSub() {
		inline = named.Param
	}
	out := canonical(nil, values, func(key string) bool {
		param, _ := nr.kind.Param(key)
		return key != inline && !(key == nodetype.TimeoutParam && param.Type == nodetype.DurationType)
	})
	if inline != "" {
		out = essence(out, values.Get(inline))
	}
	return out
}

// loop returns the digest of a node with a loop as a whole, by that of its first iteration: its condition, and what later iterations are
// given, count too. How many iterations there may be does not: see reuseNode.
func (b *values) loop(nr *nodeRun, first string) string {
	l := nr.node.Loop
	parts := []json.RawMessage{json.RawMessage(resume.Params(first)), rawjson.Quote(l.While), rawjson.Quote(l.Until)}
	for _, name := range slices.Sorted(maps.Keys(l.Carry)) {
		parts = append(parts, rawjson.Quote(name), canonical(nil, gjson.ParseBytes(l.Carry[name]), nil))
	}
	uses, _ := plan.Uses(nr.node)
	for _, u := range uses {
		if v, ok := nr.frame.inputs[u.Ref.Root]; ok && !isSchedule(u) {
			v, _ = b.store.redactor.JSON(v)
			parts = append(parts, rawjson.Quote(u.Ref.Root), canonical(nil, gjson.ParseBytes(v), nil))
		}
	}
	return resume.Digest(hashOf(parts...), nr.frame.lineage(nr.id()))
}

// isSchedule reports whether a template says only how long a loop waits or how often it goes on.
func isSchedule(u template.Use) bool {
	field, ok := strings.CutPrefix(u.Path, "loop.")
	return ok && !strings.HasPrefix(field, "while") && !strings.HasPrefix(field, "until") && !strings.HasPrefix(field, "carry")
}

// secrets returns the names of the secrets in a node's parameters as they are written: those with a literal value there, and the inputs.
func (b *values) secrets(nr *nodeRun) json.RawMessage {
	var names []string
	if named := b.store.redactor.Named(nr.node.Params); bytes.Contains(named, []byte("<redacted:")) {
		for _, mark := range strings.Split(string(canonical(nil, gjson.ParseBytes(named), nil)), "<redacted:")[1:] {
			name, _, _ := strings.Cut(mark, ">")
			names = append(names, name)
		}
	}
	uses, _ := plan.Uses(nr.node)
	for _, u := range uses {
		if in, ok := nr.frame.Workflow.Inputs[u.Ref.Root]; ok && (in.Secret || redact.SecretName(u.Ref.Root)) {
			names = append(names, u.Path+"="+u.Ref.Expression())
		}
	}
	slices.Sort(names)
	return rawjson.Quote(strings.Join(names, "\n"))
}

// workflow returns the digest of a workflow and of all workflows that its nodes run.
func (b *values) workflow(f *flow.Flow) string {
	if digest, ok := b.workflows[f]; ok {
		return digest
	}
	parts := []json.RawMessage{rawjson.Quote(f.Digest)}
	if f.File != nil {
		parts[0] = essence(nil, gjson.ParseBytes(b.store.redactor.Named(f.File.JSON())))
	}
	for _, id := range slices.Sorted(maps.Keys(f.Subs)) {
		parts = append(parts, rawjson.Quote(id), rawjson.Quote(b.workflow(f.Subs[id])))
	}
	b.workflows[f] = hashOf(parts...)
	return b.workflows[f]
}

// essential has the fields that change what a workflow puts out.
var essential = map[string]string{
	"workflow": "inputs edges outputs start_node template_resolution_mode",
	"node":     "id type inputs unsafe_templates", // and params, batch and loop
	"batch":    "items as error_handling",
	"loop":     "while until carry max_iterations",
}

// essence appends the definition of a workflow in one spelling, without what only describes it or schedules its nodes.
func essence(out []byte, definition gjson.Result) []byte {
	fields := func(of string) func(string) bool {
		names := strings.Fields(essential[of])
		return func(key string) bool { return slices.Contains(names, key) }
	}
	out = canonical(out, definition, fields("workflow"))
	for _, n := range definition.Get("nodes").Array() {
		inline := ""
		if named, ok := workflow.SubOf(json.RawMessage(n.Get("params").Raw)); ok && named.Inline != nil && n.Get("type").Str == workflow.SubType {
			inline = named.Param
		}
		out = canonical(out, n, fields("node"))
		out = canonical(out, n.Get("params"), func(key string) bool { return key != inline })
		if inline != "" {
			out = essence(out, n.Get("params."+inline))
		}
		out = canonical(canonical(out, n.Get("batch"), fields("batch")), n.Get("loop"), fields("loop"))
	}
	return out
}

// batch returns the digest of a batch as a whole: of its way to handle errors, and of each item, which its outputs repeat, with the item's
// digest.
func (b *values) batch(nr *nodeRun, itemDigest func(nr *nodeRun, i int) (string, error)) (string, error) {
	parts := []json.RawMessage{rawjson.Quote(nr.node.Type), rawjson.Quote(nr.node.Batch.ErrorHandling)}
	for i, item := range nr.batch.items {
		digest, err := itemDigest(nr, i)
		if err != nil {
			return "", err
		}
		item, _ = b.store.redactor.JSON(item)
		parts = append(parts, canonical(nil, gjson.ParseBytes(item), nil), json.RawMessage(resume.Params(digest)))
	}
	return resume.Digest(hashOf(parts...), nr.frame.lineage(nr.id())), nil
}

// question returns the digest of what a person is asked about. Another question, or another node, needs another answer.
func (b *values) question(nr *nodeRun, q *Question) string {
	params := q.Params
	if params == nil {
		params = b.store.redactor.Named(nr.node.Params)
	}
	parts := []json.RawMessage{rawjson.Quote(nr.node.Type), rawjson.Quote(b.store.redactor.Text(q.Text)), plainParams(nr, params)}
	for _, c := range q.Choices {
		parts = append(parts, rawjson.Quote(c))
	}
	return resume.Digest(hashOf(parts...), nr.frame.lineage(nr.id()))
}

// canonical appends the JSON of a value in one spelling: keys sorted, texts without needless escapes, numbers as they are. Of the outputs of
// a batch it leaves out batch_metadata, which says how the batch was run and how long it took. Only the members of an object that counts
// are written; counts may be nil.
func canonical(out []byte, v gjson.Result, counts func(key string) bool) []byte {
	switch {
	case v.IsObject():
		members := map[string]gjson.Result{}
		v.ForEach(func(key, value gjson.Result) bool {
			members[plainText(key)] = value
			return true
		})
		if isBatchOutputs(members) {
			delete(members, "batch_metadata")
		}
		out = append(out, '{')
		for _, key := range slices.Sorted(maps.Keys(members)) {
			if counts == nil || counts(key) {
				out = append(rawjson.AppendQuoted(out, key), ':')
				out = append(canonical(out, members[key], nil), ',')
			}
		}
		return append(out, '}')
	case v.IsArray():
		out = append(out, '[')
		v.ForEach(func(_, value gjson.Result) bool {
			out = append(canonical(out, value, nil), ',')
			return true
		})
		return append(out, ']')
	case v.Type == gjson.String:
		return rawjson.AppendQuoted(out, plainText(v))
	}
	return append(out, v.Raw...)
}

// plainText returns the text of a JSON string, or its JSON if a lone surrogate in it would become another character.
func plainText(v gjson.Result) string {
	if strings.ContainsRune(v.Str, '\uFFFD') && strings.Contains(v.Raw, `\u`) {
		return v.Raw
	}
	return v.Str
}

// isBatchOutputs reports whether an object is the outputs of a batch.
func isBatchOutputs(members map[string]gjson.Result) bool {
	for _, key := range []string{"batch_metadata", "results", "count", "success_count", "error_count", "errors"} {
		if !members[key].Exists() {
			return false
		}
	}
	return true
}

// keyLength is the length of a node key, in hexadecimal digits.
const keyLength = 32

// nodeKey returns the key of an attempt: a hash of the first run of the chain of resumes, the node's path, the item, the
// iteration, what identifies its parameters, and how often somebody has asked to run the node again after it had ended. It is the same for
// every attempt that has the same effect.
func nodeKey(firstRun, path string, step plan.Step, params string, reruns int) string {
	parts := []json.RawMessage{rawjson.Quote(firstRun), rawjson.Quote(path), integer(step.Item), integer(step.Iteration), rawjson.Quote(params)}
	if reruns > 0 {
		parts = append(parts, integer(reruns))
	}
	sum := hashOf(parts...)
	return strings.TrimPrefix(sum, hashPrefix)[:keyLength]
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

// lineage identifies the nodes that lead to one by taken edges and templates, however far, and out of the nodes around. The node must be
// ready. It is "" if they are unknown.
func (fr *frame) lineage(id string) string {
	if known, ok := fr.lineages[id]; ok || fr.alone {
		return known
	}
	sources := fr.plan.Sources(id)
	slices.Sort(sources)
	parts := []json.RawMessage{json.RawMessage(fr.before)}
	for _, source := range slices.Compact(sources) {
		parts = append(parts, rawjson.Quote(source), json.RawMessage(fr.lineages[source]))
	}
	const length = 16 // hexadecimal digits
	fr.lineages[id] = strings.TrimPrefix(hashOf(parts...), hashPrefix)[:length]
	return fr.lineages[id]
}
