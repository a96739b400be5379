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
	"github.com/pflow-suite/pflow/pkg/engine/node"
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

// digest returns the digest of a node, of an iteration of it, or of an item of its batch: of its type and its resolved parameters as values.
// A secret counts by its name: its value may come from outputs that were written without it.
func (b *values) digest(nr *nodeRun, bound *boundNode) (string, error) {
	b.store.redactor.AddCredentialsOf(bound.Params)
	params, _ := b.store.redactor.JSON(bound.Params) // from here on, what stands under a secret's name counts as a secret
	_, _, long := bound.Long(params)
	apart, whole := "", gjson.Result{} // a long text, which is hashed alike whether it is held in memory or not
	if param := node.LongParam(nr.kind.Name); param != "" {
		if whole = gjson.GetBytes(params, param); long != nil || whole.Type == gjson.String && len(whole.Str) > longOutputs {
			apart = param
		}
	}
	text, h := string(params), sha256.New()
	if apart != "" || !isPlain(params) {
		text = plainParams(nr, params, apart)
	}
	hashTexts(h, nr.node.Type, strconv.FormatBool(nr.node.UnsafeTemplates), b.secrets(nr), text)
	if long != nil {
		if err := copyQuoted(h, long); err != nil {
			return "", err
		}
	} else if apart != "" {
		_, _ = h.Write(rawjson.Quote(whole.Str))
	}
	if bound.sub != nil {
		hashTexts(h, b.workflow(bound.sub))
	}
	return resume.Digest(sumOf(h), nr.frame.lineage(nr.id())), nil
}

// plainParams returns parameters in one spelling, without how long the node may take, and without one that is hashed apart.
func plainParams(nr *nodeRun, params json.RawMessage, apart string) string {
	values, inline := gjson.ParseBytes(params), ""
	if nr.isSub() {
		if named, ok := workflow.SubOf(params); ok && named.Inline != nil {
			inline = named.Param
		}
	}
	out := canonical(make([]byte, 0, len(params)+16), values, func(key string) bool {
		if key == nodetype.TimeoutParam {
			param, _ := nr.kind.Param(key)
			return param.Type != nodetype.DurationType
		}
		return key != apart && key != inline
	})
	if inline != "" {
		out = essence(out, values.Get(inline))
	}
	return string(out)
}

// isPlain reports whether the parameters of a call, which are compact and sorted by name, are in the spelling of canonical already: they have no escapes, no
// objects in them, and no timeout.
func isPlain(params json.RawMessage) bool {
	return bytes.LastIndexByte(params, '{') == 0 && bytes.IndexByte(params, '\\') < 0 && !bytes.Contains(params, []byte(`"`+nodetype.TimeoutParam+`"`))
}

// loop returns the digest of a node with a loop as a whole, by that of its first iteration: its condition, and what later iterations are
// given, count too. How many iterations there may be does not: see endsAlike.
func (b *values) loop(nr *nodeRun, first string) string {
	l := nr.node.Loop
	texts := []string{resume.Params(first), l.While, l.Until}
	for _, name := range slices.Sorted(maps.Keys(l.Carry)) {
		texts = append(texts, name, plain(l.Carry[name]))
	}
	uses, _ := plan.Uses(nr.node)
	for _, u := range uses {
		if v, ok := nr.frame.inputs[u.Ref.Root]; ok && !isSchedule(u) {
			v, _ = b.store.redactor.JSON(v)
			texts = append(texts, u.Ref.Root, plain(v))
		}
	}
	return resume.Digest(digestOf(texts...), nr.frame.lineage(nr.id()))
}

// isSchedule reports whether a template says only how long a loop waits or how often it goes on.
func isSchedule(u template.Use) bool {
	field, ok := strings.CutPrefix(u.Path, "loop.")
	return ok && !strings.HasPrefix(field, "while") && !strings.HasPrefix(field, "until") && !strings.HasPrefix(field, "carry")
}

// secrets returns the names of the secrets in a node's parameters as they are written: those with a literal value there, and the inputs.
func (b *values) secrets(nr *nodeRun) string {
	var names []string
	if named := b.store.redactor.Named(nr.node.Params); bytes.Contains(named, []byte("<redacted:")) {
		for _, mark := range strings.Split(plain(named), "<redacted:")[1:] {
			name, _, _ := strings.Cut(mark, ">")
			names = append(names, name)
		}
	}
	var secret map[string]bool
	for name, in := range nr.frame.Workflow.Inputs {
		if in.Secret || redact.SecretName(name) {
			if secret == nil {
				secret = map[string]bool{}
			}
			secret[name] = true
		}
	}
	if len(secret) > 0 {
		uses, _ := plan.Uses(nr.node)
		for _, u := range uses {
			if secret[u.Ref.Root] {
				names = append(names, u.Path+"="+u.Ref.Expression())
			}
		}
	}
	slices.Sort(names)
	return strings.Join(names, "\n")
}

// workflow returns the digest of a workflow and of all workflows that its nodes run.
func (b *values) workflow(f *flow.Flow) string {
	if digest, ok := b.workflows[f]; ok {
		return digest
	}
	texts := []string{f.Digest}
	if f.File != nil {
		texts[0] = string(essence(nil, gjson.ParseBytes(b.store.redactor.Named(f.File.JSON()))))
	}
	for _, id := range slices.Sorted(maps.Keys(f.Subs)) {
		texts = append(texts, id, b.workflow(f.Subs[id]))
	}
	b.workflows[f] = digestOf(texts...)
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
	h := sha256.New()
	hashTexts(h, nr.node.Type, nr.node.Batch.ErrorHandling)
	for i, item := range nr.batch.items {
		digest, err := itemDigest(nr, i)
		if err != nil {
			return "", err
		}
		item, _ = b.store.redactor.JSON(item)
		hashTexts(h, plain(item), resume.Params(digest))
	}
	return resume.Digest(sumOf(h), nr.frame.lineage(nr.id())), nil
}

// question returns the digest of what a person is asked about. Another question, or another node, needs another answer.
func (b *values) question(nr *nodeRun, q *Question) string {
	params := q.Params
	if params == nil {
		params = b.store.redactor.Named(nr.node.Params)
	}
	texts := append([]string{nr.node.Type, b.store.redactor.Text(q.Text), plainParams(nr, params, "")}, q.Choices...)
	return resume.Digest(digestOf(texts...), nr.frame.lineage(nr.id()))
}

// plain returns a value in one spelling.
func plain(raw json.RawMessage) string { return string(canonical(nil, gjson.ParseBytes(raw), nil)) }

// canonical appends the JSON of a value in one spelling: keys sorted, texts without needless escapes, numbers as they are. Of the outputs of
// a batch it leaves out batch_metadata, which says how the batch was run and how long it took. Only the members of an object that counts
// are written; counts may be nil.
func canonical(out []byte, v gjson.Result, counts func(key string) bool) []byte {
	switch {
	case v.IsObject():
		members := make([]member, 0, 8)
		v.ForEach(func(key, value gjson.Result) bool {
			members = append(members, member{plainText(key), value})
			return true
		})
		slices.SortStableFunc(members, func(a, b member) int { return strings.Compare(a.key, b.key) })
		batch := isBatchOutputs(members)
		out = append(out, '{')
		begin := len(out)
		for _, m := range members {
			if (counts == nil || counts(m.key)) && !(batch && m.key == "batch_metadata") {
				if len(out) > begin {
					out = append(out, ',')
				}
				out = append(rawjson.AppendQuoted(out, m.key), ':')
				out = canonical(out, m.value, nil)
			}
		}
		return append(out, '}')
	case v.IsArray():
		out = append(out, '[')
		begin := len(out)
		v.ForEach(func(_, value gjson.Result) bool {
			if len(out) > begin {
				out = append(out, ',')
			}
			out = canonical(out, value, nil)
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

// member is a member of an object.
type member struct {
	key   string
	value gjson.Result
}

// isBatchOutputs reports whether an object, by its sorted members, is the outputs of a batch.
func isBatchOutputs(members []member) bool {
	keys := []string{"batch_metadata", "count", "error_count", "errors", "results", "success_count"}
	if len(members) < len(keys) {
		return false
	}
	for _, key := range keys {
		if _, ok := slices.BinarySearchFunc(members, key, func(m member, key string) int { return strings.Compare(m.key, key) }); !ok {
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

// digestOf returns the digest of texts.
func digestOf(texts ...string) string {
	h := sha256.New()
	hashTexts(h, texts...)
	return sumOf(h)
}

// hashTexts adds texts to a hash, each preceded by its length.
func hashTexts(h hash.Hash, texts ...string) {
	size := 0
	for _, text := range texts {
		size += len(text) + 8
	}
	all := make([]byte, 0, size)
	for _, text := range texts {
		all = append(append(strconv.AppendInt(all, int64(len(text)), 10), ' '), text...)
	}
	_, _ = h.Write(all)
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
	text := append(make([]byte, 0, 256), fr.before...)
	for _, source := range slices.Compact(sources) { // no id has a space
		text = append(append(append(append(text, ' '), source...), ' '), fr.lineages[source]...)
	}
	sum := sha256.Sum256(text)
	fr.lineages[id] = hex.EncodeToString(sum[:8])
	return fr.lineages[id]
}
