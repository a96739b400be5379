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
	// maxArguments is how many bytes of arguments are read: cleaning takes time, and the call waits for it.
	maxArguments = 128 << 10
	// maxDepth is how deep arguments may be nested: some readers refuse more than 256 levels. JSON that stands as text
	// inside JSON counts as so many levels more, and is taken out where that is too much.
	maxDepth, textDepth = 200, 60
	// maxShort is how many bytes a text has at most that stays where arguments are left out.
	maxShort = 200
)

// arguments makes an object of what was given as arguments, however wrong, without what can be told to be secret by where
// it stands. Of text that is no JSON the beginning stays; it is cut when the secrets are out of it, for of one that was cut
// in two a part would be left.
func (c *cleaner) arguments(args json.RawMessage) json.RawMessage {
	if len(args) > maxArguments {
		return c.reduced(args)
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
	case c.unread:
		return c.reduced(args)
	case c.hides() && (c.declared == nil || !object): // nobody knows what is SQL
		return wrapped(redacted())
	case !object:
		return wrapped(clean)
	}
	return clean
}

func wrapped(value json.RawMessage) json.RawMessage {
	return slices.Concat([]byte(`{"arguments":`), value, []byte("}"))
}

func redacted() json.RawMessage { return rawjson.Quote(redact.Mark) }

// reduced stands for arguments that are left out: how many bytes they had, and the short texts that say what the call was
// about. What secrets they hold is not known then.
func (c *cleaner) reduced(args json.RawMessage) json.RawMessage {
	c.unread = true
	out := strconv.AppendInt([]byte(`{"omitted_bytes":`), int64(len(args)), 10)
	for _, key := range harmlessNames {
		v := gjson.GetBytes(args, key)
		if v.Type == gjson.String && len(v.Str) <= maxShort && !(c.hides() && !slices.Contains(c.declared, key)) {
			out = slices.Concat(out, []byte(`,"`+key+`":`), rawjson.Quote(c.text(strings.ToValidUTF8(v.Str, "\uFFFD"))))
		}
	}
	return append(out, '}')
}

// value cleans what stands under a key. What is not to be cleaned keeps its bytes.
func (c *cleaner) value(key string, v gjson.Result, depth int) json.RawMessage {
	switch {
	case depth > maxDepth:
		c.unread = true
	case v.Type == gjson.Null, v.IsBool():
	case secretName(key):
		return c.secret(key, v, depth)
	case v.IsObject():
		return c.object(v, depth)
	case v.IsArray():
		return c.array(key, v, depth)
	case v.Type == gjson.Number:
	case c.hides() && !(depth == 1 && harmless(key)):
		return redacted()
	default:
		if clean := c.document(key, v.Str, depth); clean != v.Str {
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
		return !c.unread
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
		return !c.unread
	})
	return append(out, '}')
}

// isPair says whether an object is a secret in the form {"name":…,"value":…}.
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

// member cleans a key and its value; pair says that what stands under value is secret.
func (c *cleaner) member(k, v gjson.Result, depth int, pair bool) (key, value json.RawMessage) {
	name := k.Str
	sql := depth == 1 && strings.EqualFold(name, "sql")
	switch {
	case !c.hides():
	case sql && v.Type != gjson.Null && !v.IsBool():
		if c.mode == SQLHash {
			sum := sha256.Sum256([]byte(v.String()))
			return rawjson.Quote("sql_hash"), rawjson.Quote("sha256:" + hex.EncodeToString(sum[:]))
		}
		return json.RawMessage(k.Raw), redacted()
	case depth == 1 && !sql && !slices.Contains(c.declared, name):
		c.value(name, v, depth) // for the secrets in it
		return redacted(), redacted()
	case !plainWord(name):
		return redacted(), c.value(name, v, depth)
	}
	if pair && strings.HasPrefix(strings.ToLower(name), "val") {
		name = "secret"
	}
	key = json.RawMessage(k.Raw)
	if clean := c.text(k.Str); clean != k.Str {
		key = rawjson.Quote(clean)
	}
	c.sql = sql
	value = c.value(name, v, depth)
	c.sql = false
	return key, value
}

// harmlessNames are the arguments whose texts are shown where SQL is hidden, and where the others are left out.
var harmlessNames = [...]string{"id", "name", "pipeline_id", "uri"}

func harmless(name string) bool { return slices.Contains(harmlessNames[:], name) }

// plainWord says whether a key or a name is none that could be SQL.
func plainWord(s string) bool {
	return len(s) <= 64 && strings.IndexFunc(s, func(r rune) bool { return !inWord(r) }) < 0
}

// secret keeps a value under a secret name, and gives what stands for it: an empty one may stay.
func (c *cleaner) secret(name string, v gjson.Result, depth int) json.RawMessage {
	if v.Raw == `""` || v.Raw == "[]" || v.Raw == "{}" {
		return json.RawMessage(v.Raw)
	}
	c.learnValue(name, v, depth)
	return redacted()
}

func (c *cleaner) learnValue(name string, v gjson.Result, depth int) {
	switch {
	case depth > maxDepth:
		c.unread = true
	case v.IsObject(), v.IsArray():
		v.ForEach(func(_, item gjson.Result) bool {
			c.learnValue(name, item, depth+1)
			return !c.unread
		})
	case v.Type == gjson.String, v.Type == gjson.Number:
		c.learn(name, v.String())
	}
}

// document cleans a text, which may be JSON itself.
func (c *cleaner) document(key, text string, depth int) string {
	trimmed := strings.TrimSpace(text)
	switch {
	case trimmed == "" || !strings.Contains(`{["`, trimmed[:1]):
		return c.place(key, text)
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

// shortened is what is left of {"arguments":"…"}.
func shortened(args json.RawMessage) json.RawMessage {
	text := gjson.GetBytes(args, "arguments").Str
	if utf8.RuneCountInString(text) > maxShort {
		text = string([]rune(text)[:maxShort])
	}
	return wrapped(rawjson.Quote(text))
}
