package workflow

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// MaxIterations is the most iterations of a loop.
const MaxIterations = 10000

// DefaultMaxWait is the longest wait of a retry or a loop that does not set it.
const DefaultMaxWait = defaultMaxWait

// The defaults of fields.
const (
	defaultItem          = "item"
	defaultMaxConcurrent = 10
	defaultMaxRetries    = 1
	defaultMaxIterations = 100
	defaultMaxWait       = Duration(time.Minute)
	defaultTTL           = Duration(24 * time.Hour)
)

func (d *decoder) node(v span, path string) (n Node) {
	o, ok := d.object(v, path)
	if !ok {
		return n
	}
	o.rename("parameters", "params") // pflow's Python parser accepts both words
	o.known("id", "type", "purpose", "params", "inputs", "batch", "loop", "retry", "timeout", "approval", "cache", "runs_on", "idempotent", "unsafe_templates")
	n.ID = o.required("id", "Give it a name that templates and edges can use")
	n.Type = o.required("type", "Write the node type, such as shell")
	n.Purpose = o.text("purpose")
	n.Params = o.params()
	n.Batch = part(o, "batch", o.batch)
	n.Loop = part(o, "loop", o.loop)
	n.Retry = part(o, "retry", o.retry)
	n.Timeout = part(o, "timeout", o.timeout)
	n.Approval = part(o, "approval", o.approval)
	n.Cache = part(o, "cache", o.cache)
	n.RunsOn = runnerOf(o)
	n.Idempotent, _ = o.flag("idempotent")
	n.UnsafeTemplates, _ = o.flag("unsafe_templates")
	return n
}

// runnerOf decodes the name of a runner.
func runnerOf(o object) string {
	v, ok := o.get("runs_on")
	if !ok {
		return ""
	}
	name := o.text("runs_on")
	if o.isText(v) && !RunnerName(name) {
		o.add(o.at("runs_on"), "%s must be the name of a runner, not %s", o.at("runs_on"), o.shown(v)).
			Suggest("Names have lower-case letters, digits and single hyphens, such as gpu; templates are not possible here")
	}
	return name
}

// RunnerName reports whether a text can be the name of a runner.
func RunnerName(name string) bool {
	return name != "" && len(name) <= 50 && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == "" &&
		name[0] != '-' && name[len(name)-1] != '-' && !strings.Contains(name, "--")
}

// part decodes a field of a node. It returns nil if the field is missing.
func part[T any](o object, key string, decode func(key string, v span) *T) *T {
	if v, ok := o.has(key); ok {
		return decode(key, v)
	}
	return nil
}

// params returns a node's parameters, with the inputs that are written beside them.
func (o object) params() json.RawMessage {
	params := json.RawMessage("{}")
	var fields object
	if v, ok := o.has("params"); ok {
		if fields, ok = o.object(v, o.at("params")); ok {
			params = json.RawMessage(o.raw(v))
		}
	}
	v, ok := o.has("inputs")
	if !ok {
		return params
	}
	if _, both := fields.has("inputs"); both {
		o.add(o.at("inputs"), "%s has inputs both in params and beside it", called(o.path)).Suggest("Keep one of them")
		return params
	}
	if _, ok := o.object(v, o.at("inputs")); !ok {
		return params
	}
	merged := params[:len(params)-1]
	if len(fields.fields) > 0 {
		merged = append(merged, ',')
	}
	return append(append(append(merged, `"inputs":`...), o.raw(v)...), '}')
}

func (o object) batch(key string, v span) *Batch {
	if isReference(unquoted(o.raw(v))) && (!o.replaced || slices.Contains(o.lost, o.at(key))) {
		return &Batch{Items: json.RawMessage("[]"), As: defaultItem} // until the file is in its place
	}
	o, ok := o.object(v, o.at(key))
	if !ok {
		return nil
	}
	o.known("items", "as", "error_handling", "parallel", "max_concurrent", "max_retries", "retry_wait")
	b := &Batch{
		Items:         o.list("items"),
		As:            defaultItem,
		ErrorHandling: o.oneOf("error_handling", "fail_fast", "continue"),
		MaxConcurrent: o.whole("max_concurrent", 1, 100, defaultMaxConcurrent),
		MaxRetries:    o.whole("max_retries", 1, 10, defaultMaxRetries),
		RetryWait:     o.duration("retry_wait", 0),
	}
	b.Parallel, _ = o.flag("parallel")
	if v, ok := o.get("as"); ok {
		if b.As = o.text("as"); o.isText(v) && !isName(b.As) {
			o.add(o.at("as"), "%q cannot be the name of the item in templates", b.As).Suggest("Start with a letter or one _, then use letters, digits, _ and -")
		}
	}
	return b
}

// list decodes a list, or a template that resolves to one.
func (o object) list(key string) json.RawMessage {
	v, ok := o.has(key)
	switch {
	case !ok:
		o.add(o.path, "%s needs %q", called(o.path), key).Suggest(`Write a list, or a template that resolves to one, such as "${node.key}"`)
		return nil
	case o.json[v.at] != '[' && !(o.isText(v) && holdsTemplate(unquote(o.raw(v)))):
		o.must(key, "a list or a template", v).Suggest(`Write a list, or a template that resolves to one, such as "${node.key}"`)
	}
	return json.RawMessage(o.raw(v))
}

// isName reports whether a word can be the name of an item in templates. Names that start with __ are reserved.
func isName(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c != '-' && (c < '0' || c > '9')) {
			return false
		}
	}
	return s != "" && !strings.HasPrefix(s, "__")
}

// holdsTemplate reports whether a text contains a ${ that is not escaped.
func holdsTemplate(s string) bool {
	for i := 0; ; i += 2 {
		next := strings.Index(s[i:], "${")
		if next < 0 {
			return false
		}
		if i += next; i == 0 || s[i-1] != '$' {
			return true
		}
	}
}

// maxAttempts is the most attempts of a retry; assumedAttempts stands for a number that is missing or invalid, which is an
// error.
const (
	maxAttempts     = 100
	assumedAttempts = 2
)

func (o object) retry(key string, v span) *Retry {
	if c := o.json[v.at]; c == '-' || c >= '0' && c <= '9' { // "retry": 3
		return &Retry{Max: o.whole(key, 1, maxAttempts, assumedAttempts), Backoff: "fixed", MaxWait: defaultMaxWait}
	}
	if o.json[v.at] != '{' {
		o.must(key, "a number or an object", v).Suggest(`Write 3 for three attempts in all, or {"max": 3, "wait": "5s"}`)
		return nil
	}
	o, _ = o.object(v, o.at(key))
	o.known("max", "wait", "backoff", "max_wait", "jitter", "only_exit_codes")
	r := &Retry{Max: o.whole("max", 1, maxAttempts, assumedAttempts), Wait: o.duration("wait", 0), Backoff: o.oneOf("backoff", "fixed", "exponential"), OnlyExitCodes: o.exitCodes()}
	if _, ok := o.get("max"); !ok {
		o.add(o.path, `%s needs "max"`, called(o.path)).Suggest(`Write how many attempts there are in all: "max": 3`)
	}
	r.MaxWait = o.positive("max_wait", max(defaultMaxWait, r.Wait))
	if r.MaxWait < r.Wait && r.MaxWait > 0 {
		o.add(o.at("max_wait"), "%s is %s, which is less than wait (%s)", called(o.at("max_wait")), r.MaxWait, r.Wait).Suggest("Make it at least as long as wait, or leave it out")
	}
	if v, ok := o.get("jitter"); ok {
		if err := json.Unmarshal([]byte(o.raw(v)), &r.Jitter); err != nil || r.Jitter < 0 || r.Jitter > 1 {
			o.must("jitter", "a number from 0 to 1", v).Suggest("Write 0.2 to change each wait by up to a fifth")
		}
	}
	return r
}

func (o object) exitCodes() (codes []int) {
	v, ok := o.get("only_exit_codes")
	if !ok {
		return nil
	}
	items := o.items(v, o.at("only_exit_codes"))
	if o.json[v.at] == '[' && len(items) == 0 {
		o.add(o.at("only_exit_codes"), "%s is empty", called(o.at("only_exit_codes"))).Suggest("Leave it out to retry after any failure")
	}
	for i, v := range items {
		if o.full() {
			break
		}
		code, ok := o.between(v, 1, 255)
		if !ok {
			path := item(o.at("only_exit_codes"), i)
			o.add(path, "%s must be an exit status from 1 to 255, not %s", path, o.shown(v))
		}
		codes = append(codes, code)
	}
	return codes
}

func (o object) timeout(key string, v span) *Timeout {
	if o.json[v.at] != '{' {
		if d := o.positive(key, 0); d > 0 {
			return &Timeout{Node: d}
		}
		if o.isNull(v) {
			o.must(key, "a duration or an object", v).Suggest(`Write "5m", or {"node": "5m", "attempt": "30s"}`)
		}
		return nil
	}
	o, _ = o.object(v, o.at(key))
	o.known("node", "attempt")
	if len(o.fields) == 0 {
		o.add(o.path, "%s has neither node nor attempt", called(o.path)).Suggest(`Write {"node": "5m"} for the whole node, {"attempt": "30s"} for each attempt`)
	}
	return &Timeout{Node: o.positive("node", 0), Attempt: o.positive("attempt", 0)}
}

func (o object) approval(key string, v span) *Approval {
	switch raw := o.raw(v); {
	case raw == "false":
		return nil
	case raw == "true", unquoted(raw) == "required":
		return &Approval{}
	case raw[0] != '{':
		o.must(key, `true, "required" or an object`, v).Suggest(`Write {"question": "Deploy ${version}?"} to ask a question`)
		return nil
	}
	o, _ = o.object(v, o.at(key))
	o.known("question", "choices", "by")
	a := &Approval{Question: o.text("question")}
	if o.oneOf("by", "anyone", ByPerson) == ByPerson {
		a.By = ByPerson
	}
	list, ok := o.get("choices")
	if !ok {
		return a
	}
	path := o.at("choices")
	choices := o.items(list, path)
	if len(choices) > maxChoices {
		o.add(path, "%s has %d choices, and at most %d are allowed", path, len(choices), maxChoices).Suggest("Offer fewer choices")
		return a
	}
	for i, v := range choices {
		choice := unquoted(o.raw(v))
		switch {
		case !o.isText(v):
			o.add(item(path, i), "%s must be a string, not %s", item(path, i), o.shown(v)).Suggest("Put it into double quotes")
		case strings.TrimSpace(choice) == "":
			o.add(item(path, i), "%s is empty", item(path, i)).Suggest("Write an answer, or remove it")
		case slices.Contains(a.Choices, choice):
			o.add(item(path, i), "Duplicate choice %q", choice).Suggest("Keep one of them")
		}
		a.Choices = append(a.Choices, choice)
	}
	if o.json[list.at] == '[' && len(choices) < 2 {
		o.add(path, "%s needs at least two choices", path).Suggest("Leave it out for yes and no")
	}
	return a
}

// maxChoices bounds the choices of an approval.
const maxChoices = 100

func (o object) cache(key string, v span) *Cache {
	switch raw := o.raw(v); {
	case raw == "false":
		return nil
	case raw == "true":
		return &Cache{TTL: defaultTTL}
	case raw[0] != '{':
		o.must(key, "true, false or an object", v).Suggest(`Write {"ttl": "1h"} to set how long; true means one day`)
		return nil
	}
	o, _ = o.object(v, o.at(key))
	o.known("ttl")
	return &Cache{TTL: o.positive("ttl", defaultTTL)}
}
