package workflow

import (
	"encoding/json"
	"strconv"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

func (o object) loop(key string, v span) *Loop {
	o, ok := o.object(v, o.at(key))
	if !ok {
		return nil
	}
	o.known("while", "until", "carry", "max_iterations", "wait", "backoff", "max_wait")
	l := &Loop{While: o.condition("while"), Until: o.condition("until")}
	o.pace(l)
	_, while := o.get("while")
	_, until := o.get("until")
	if while && until {
		o.add(o.path, "%s has both while and until", called(o.path)).Suggest("Keep one of them")
	} else if !while && !until {
		o.add(o.path, "%s needs while or until", called(o.path)).Suggest(`Write "until": "${node.done}" with an output of the node, or "while"`)
	}
	if v, ok := o.has("carry"); ok {
		if carry, ok := o.object(v, o.at("carry")); ok {
			l.Carry = make(map[string]json.RawMessage, len(carry.fields))
			for _, f := range carry.fields {
				l.Carry[f.key] = json.RawMessage(o.raw(f.value))
			}
		}
	}
	return l
}

// pace decodes how often and how fast a loop repeats. Each field may be a template.
func (o object) pace(l *Loop) {
	l.MaxIterations = o.orTemplate("max_iterations", func() any { return o.whole("max_iterations", 1, MaxIterations, defaultMaxIterations) })
	if l.MaxIterations == nil {
		l.MaxIterations = strconv.AppendInt(nil, defaultMaxIterations, 10)
	}
	before := o.noted
	var wait, most Duration
	l.Wait = o.orTemplate("wait", func() any { wait = o.duration("wait", 0); return wait })
	l.Backoff = o.orTemplate("backoff", func() any { return o.oneOf("backoff", "fixed", "exponential") })
	l.MaxWait = o.orTemplate("max_wait", func() any { most = o.positive("max_wait", 0); return most })
	switch {
	case o.noted != before:
	case l.Wait == nil && (l.Backoff != nil || l.MaxWait != nil):
		o.add(o.path, "%s has backoff or max_wait, but no wait", called(o.path)).Suggest(`Add "wait": "5s", how long to wait before the next iteration`)
	case most > 0 && most < wait:
		o.add(o.at("max_wait"), "%s is %s, which is less than wait (%s)", called(o.at("max_wait")), most, wait).Suggest("Make it at least as long as wait, or leave it out")
	}
}

// orTemplate returns the JSON of a field that is a template, or of the decoded value; nil if the field is missing.
func (o object) orTemplate(key string, decode func() any) json.RawMessage {
	v, ok := o.get(key)
	if !ok {
		return nil
	}
	if o.isText(v) && holdsTemplate(unquote(o.raw(v))) {
		return json.RawMessage(o.raw(v))
	}
	raw, err := rawjson.Marshal(decode())
	if err != nil { // numbers and texts always have a JSON form
		return nil
	}
	return raw
}

// condition decodes the condition of a loop. With "while": true, only max_iterations ends the loop.
func (o object) condition(key string) string {
	v, ok := o.get(key)
	if !ok {
		return ""
	}
	s := unquoted(o.raw(v))
	switch {
	case o.isText(v) && holdsTemplate(s):
		return s
	case key == "while" && (s == "true" || o.raw(v) == "true"):
		return "true"
	}
	want := "a template"
	if key == "while" {
		want = "a template or true"
	}
	o.must(key, want, v).Suggest(`Write a template of the node's output, such as "${node.more}"`)
	return ""
}
