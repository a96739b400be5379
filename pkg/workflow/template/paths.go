package template

import (
	"encoding/json"
	"iter"
	"slices"

	"github.com/tidwall/gjson"
)

// Paths yields the values that templates can reach in a value, each with its reference: the members of objects and the first item
// of lists, however deep, and also those in text that holds JSON. Of equal keys in an object only the first can be reached. Objects
// with members are not among them, lists are. The depth is limited.
func Paths(root string, value json.RawMessage) iter.Seq2[Ref, json.RawMessage] {
	return func(yield func(Ref, json.RawMessage) bool) { paths(Ref{Root: root}, value, yield) }
}

func paths(at Ref, value json.RawMessage, yield func(Ref, json.RawMessage) bool) bool {
	inner := gjson.ParseBytes(value)
	embedded, isText := Embedded(value)
	if isText {
		inner = gjson.ParseBytes(embedded)
	}
	members := 0
	if inner.IsObject() && len(at.Path) < maxSteps {
		members = len(inner.Map())
	}
	if (isText || members == 0) && !yield(at, value) {
		return false
	}
	next := func(step Step, v gjson.Result) bool {
		path := append(slices.Clip(at.Path), step)
		return paths(Ref{Root: at.Root, Path: path}, json.RawMessage(v.Raw), yield)
	}
	switch {
	case members > 0:
		seen, more := make(map[string]bool, members), true
		inner.ForEach(func(k, v gjson.Result) bool {
			if more = seen[k.Str] || next(Step{Key: k.Str}, v); more {
				seen[k.Str] = true
			}
			return more
		})
		return more
	case inner.IsArray() && len(at.Path) < maxSteps:
		if first := inner.Get("0"); first.Exists() {
			return next(Step{IsIndex: true}, first)
		}
	}
	return true
}
