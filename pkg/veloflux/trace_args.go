package veloflux

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

const (
	// maxArguments is the most bytes of arguments that are cleaned, because the call waits for it.
	maxArguments = 128 << 10
	// maxDepth is the most levels to which arguments may be nested, since some JSON readers refuse more than 256. A string
	// that holds JSON counts as textDepth levels; if that is too deep, the string is removed.
	maxDepth, textDepth = 200, 60
	// maxShort is the most bytes of a text that is kept when arguments are omitted.
	maxShort = 200
)

// arguments returns the arguments of a call as a JSON object, even if they are invalid, without the secrets that their
// place gives away. Of text that is not JSON the beginning is kept. It is cut only after the secrets are removed,
// because part of a secret that is cut in two would be left.
func (c *cleaner) arguments(args json.RawMessage) json.RawMessage {
	if len(args) > maxArguments {
		return c.omittedArguments(args)
	}
	args = bytes.TrimSpace(bytes.ToValidUTF8(args, []byte("\uFFFD")))
	valid := json.Valid(args)
	object := valid && args[0] == '{'
	var clean json.RawMessage
	switch {
	case len(args) == 0 || string(args) == "null":
		return json.RawMessage("{}")
	case valid:
		clean = c.value("", gjson.ParseBytes(rawjson.Compact(args)), 0)
	default:
		c.excerpt = true
		clean = rawjson.Quote(c.text(untilSecretName(string(args))))
	}
	switch {
	case c.omitted:
		return c.omittedArguments(args)
	case c.hidesSQL() && (c.declared == nil || !object): // any part may be SQL
		return wrapped(redactedMark())
	case !object:
		return wrapped(clean)
	}
	return clean
}

func wrapped(value json.RawMessage) json.RawMessage {
	return slices.Concat([]byte(`{"arguments":`), value, []byte("}"))
}

func redactedMark() json.RawMessage { return rawjson.Quote(redact.Mark) }

// omittedArguments returns what stands for arguments that are omitted: their size in bytes, and the short texts that say
// what the call was about. The secrets in the arguments are then not known.
func (c *cleaner) omittedArguments(args json.RawMessage) json.RawMessage {
	c.omitted = true
	out := strconv.AppendInt([]byte(`{"omitted_bytes":`), int64(len(args)), 10)
	for _, key := range harmlessNames {
		v := gjson.GetBytes(args, key)
		if v.Type == gjson.String && len(v.Str) <= maxShort && !(c.hidesSQL() && !slices.Contains(c.declared, key)) {
			out = slices.Concat(out, []byte(`,"`+key+`":`), rawjson.Quote(c.text(strings.ToValidUTF8(v.Str, "\uFFFD"))))
		}
	}
	return append(out, '}')
}

// value cleans the value of a key. A value without secrets keeps its bytes.
func (c *cleaner) value(key string, v gjson.Result, depth int) json.RawMessage {
	switch {
	case depth > maxDepth:
		c.omitted = true
	case v.Type == gjson.Null, v.IsBool():
	case secretName(key):
		return c.secret(key, v, depth)
	case v.IsObject():
		return c.object(v, depth)
	case v.IsArray():
		return c.array(key, v, depth)
	case v.Type == gjson.Number:
	case c.hidesSQL() && !(depth == 1 && harmless(key)):
		return redactedMark()
	default:
		if clean := c.stringValue(key, v.Str, depth); clean != v.Str {
			return rawjson.Quote(clean)
		}
	}
	return json.RawMessage(v.Raw)
}

func (c *cleaner) array(key string, v gjson.Result, depth int) json.RawMessage {
	out := []byte{'['}
	v.ForEach(func(_, item gjson.Result) bool {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, c.value(key, item, depth+1)...)
		return !c.omitted
	})
	return append(out, ']')
}

func (c *cleaner) object(v gjson.Result, depth int) json.RawMessage {
	out := []byte{'{'}
	pair := isPair(v)
	v.ForEach(func(k, item gjson.Result) bool {
		if len(out) > 1 {
			out = append(out, ',')
		}
		key, clean := c.member(k, item, depth+1, pair)
		out = slices.Concat(out, key, []byte(":"), clean)
		return !c.omitted
	})
	return append(out, '}')
}

// isPair reports whether an object is a secret in the form {"name":…,"value":…}.
func isPair(v gjson.Result) bool {
	secret := false
	v.ForEach(func(k, item gjson.Result) bool {
		switch strings.ToLower(k.Str) {
		case "name", "key", "header":
			secret = secret || item.Type == gjson.String && secretName(item.Str)
		}
		return !secret
	})
	return secret
}

// member cleans a key and its value. pair means that the member named value is secret.
func (c *cleaner) member(k, v gjson.Result, depth int, pair bool) (key, value json.RawMessage) {
	name := k.Str
	sql := depth == 1 && strings.EqualFold(name, "sql")
	switch {
	case !c.hidesSQL():
	case sql && v.Type != gjson.Null && !v.IsBool():
		if c.mode == SQLHash {
			sum := sha256.Sum256([]byte(v.String()))
			return rawjson.Quote("sql_hash"), rawjson.Quote("sha256:" + hex.EncodeToString(sum[:]))
		}
		return json.RawMessage(k.Raw), redactedMark()
	case depth == 1 && !sql && !slices.Contains(c.declared, name):
		c.value(name, v, depth) // collects the secrets in it
		return redactedMark(), redactedMark()
	case !plainWord(name):
		return redactedMark(), c.value(name, v, depth)
	}
	if pair && strings.HasPrefix(strings.ToLower(name), "val") {
		name = "secret"
	}
	key = json.RawMessage(k.Raw)
	if clean := c.text(k.Str); clean != k.Str {
		key = rawjson.Quote(clean)
	}
	return key, c.value(name, v, depth)
}

// harmlessNames are the arguments whose texts are shown even if SQL is hidden or the arguments are omitted.
var harmlessNames = [...]string{"id", "name", "pipeline_id", "uri"}

func harmless(name string) bool { return slices.Contains(harmlessNames[:], name) }

// plainWord reports whether a key or a name is a single word, which cannot be SQL.
func plainWord(s string) bool {
	return len(s) <= 64 && strings.IndexFunc(s, func(r rune) bool { return !inWord(r) }) < 0
}

// secret collects a value under a secret name and returns its replacement. An empty value is not replaced.
func (c *cleaner) secret(name string, v gjson.Result, depth int) json.RawMessage {
	if v.Raw == `""` || v.Raw == "[]" || v.Raw == "{}" {
		return json.RawMessage(v.Raw)
	}
	c.collectValue(name, v, depth)
	return redactedMark()
}

func (c *cleaner) collectValue(name string, v gjson.Result, depth int) {
	switch {
	case depth > maxDepth:
		c.omitted = true
	case v.IsObject(), v.IsArray():
		v.ForEach(func(_, item gjson.Result) bool {
			c.collectValue(name, item, depth+1)
			return !c.omitted
		})
	case v.Type == gjson.String, v.Type == gjson.Number:
		c.collect(name, v.String())
	}
}

// stringValue cleans a string, which may itself be JSON.
func (c *cleaner) stringValue(key, text string, depth int) string {
	trimmed := strings.TrimSpace(text)
	switch {
	case trimmed == "" || !strings.Contains(`{["`, trimmed[:1]):
		return c.text(text)
	case !json.Valid([]byte(trimmed)):
		return c.text(untilSecretName(text))
	case depth+textDepth > maxDepth:
		return redact.Mark
	}
	compact := rawjson.Compact(json.RawMessage(trimmed))
	if clean := c.value(key, gjson.ParseBytes(compact), depth+textDepth); !bytes.Equal(clean, compact) {
		return string(clean)
	}
	return text
}

// shortened returns {"arguments":"…"} with its text cut to maxShort characters.
func shortened(args json.RawMessage) json.RawMessage {
	text := gjson.GetBytes(args, "arguments").Str
	if utf8.RuneCountInString(text) > maxShort {
		text = string([]rune(text)[:maxShort])
	}
	return wrapped(rawjson.Quote(text))
}
