package template

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

const (
	maxKeys       = 20   // listed in a reason
	maxCandidates = 1000 // among which the nearest key is searched
	maxKeyLength  = 60   // in bytes; a longer key is truncated and never the nearest
)

// missed describes why step does not lead anywhere from value, which is the value of so.
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
		return so.String() + " is text, not a JSON object or list"
	default:
		return so.String() + " is " + rawjson.Kind(value)
	}
}

// available lists the keys of an object and names the one nearest to a missing key.
func available(object gjson.Result, key string) string {
	var names, candidates []string
	count := 0
	object.ForEach(func(k, _ gjson.Result) bool {
		if count++; count <= maxKeys {
			names = append(names, shown(k.Str))
		}
		if count <= maxCandidates && len(k.Str) <= maxKeyLength {
			candidates = append(candidates, k.Str)
		}
		return true
	})
	s := strings.Join(names, ", ")
	if count > maxKeys {
		s += " and " + strconv.Itoa(count-maxKeys) + " more"
	}
	if len(key) <= maxKeyLength {
		if nearest, ok := fault.Nearest(key, candidates); ok {
			s += "; the nearest is " + shown(nearest)
		}
	}
	return s
}

// shown returns a key for use in a sentence: quoted unless it is a plain word, and truncated if it is long.
func shown(key string) string {
	switch {
	case len(key) > maxKeyLength:
		return string(rawjson.Quote(strings.ToValidUTF8(key[:maxKeyLength], ""))) + "…"
	case plainKey(key):
		return key
	default:
		return string(rawjson.Quote(key))
	}
}

// extent describes the items of a list to which step does not lead.
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
