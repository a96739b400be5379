package template

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// A reason lists so many keys. One that may have been meant is looked for among so many, and only so long ones.
const (
	manyKeys = 20
	nearKeys = 1000
	longKey  = 60
)

// missed says in words why a step could not be taken.
func missed(so Ref, value json.RawMessage, step Step) string {
	v := gjson.ParseBytes(value)
	switch {
	case v.IsObject():
		has := available(v, step.Key)
		switch {
		case has == "":
			return so.String() + " is an object without keys"
		case step.IsIndex && step.Key == "":
			return so.String() + " is an object and has no items, only keys: " + has
		}
		return so.String() + " has no key " + shown(step.Key) + ", only " + has
	case v.IsArray():
		return so.String() + " is a list " + extent(v, step)
	case v.Type == gjson.String && len(v.Str) > embeddedLimit:
		return so.String() + " is text of more than 10 MiB, which is not read as JSON"
	case v.Type == gjson.String:
		return so.String() + " is text that is no JSON object or list"
	default:
		return so.String() + " is " + rawjson.Kind(value)
	}
}

// available lists the keys of an object, and says which of them is nearest to one that it lacks.
func available(object gjson.Result, key string) string {
	var names, candidates []string
	count := 0
	object.ForEach(func(k, _ gjson.Result) bool {
		if count++; count <= manyKeys {
			names = append(names, shown(k.Str))
		}
		if count <= nearKeys && len(k.Str) <= longKey {
			candidates = append(candidates, k.Str)
		}
		return true
	})
	s := strings.Join(names, ", ")
	if count > manyKeys {
		s += " and " + strconv.Itoa(count-manyKeys) + " more"
	}
	if len(key) <= longKey {
		if nearest, ok := fault.Nearest(key, candidates); ok {
			s += "; the nearest is " + shown(nearest)
		}
	}
	return s
}

// shown is a key as a sentence has it: quoted where it is no plain word, and cut where it is long.
func shown(key string) string {
	switch {
	case len(key) > longKey:
		return string(rawjson.Quote(strings.ToValidUTF8(key[:longKey], ""))) + "…"
	case plainKey(key):
		return key
	default:
		return string(rawjson.Quote(key))
	}
}

// extent says what a list has.
func extent(list gjson.Result, step Step) string {
	n := int(list.Get("#").Int())
	if n == 0 {
		return "without items"
	}
	s := "of 1 item, [0]"
	if n > 1 {
		s = "of " + strconv.Itoa(n) + " items, [0] to [" + strconv.Itoa(n-1) + "]"
	}
	if !step.IsIndex {
		s += ", and has no keys"
	}
	return s
}
