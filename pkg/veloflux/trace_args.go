package veloflux

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/redact"
)

const (
	// maxDepth is how deep arguments may be nested in a line: some readers refuse more than 256 levels.
	maxDepth = 200
	// maxShort is how many characters a text of the arguments has at most that stays where they are left out.
	maxShort = 200
)

// arguments makes an object of what was given as a tool's arguments, however wrong, without the credentials that can be
// told by where they stand. What they are is kept in c.secrets.
func (c *cleaner) arguments(args json.RawMessage) json.RawMessage {
	args = bytes.TrimSpace(bytes.ToValidUTF8(args, []byte("\uFFFD")))
	switch {
	case len(args) == 0 || string(args) == "null":
		return json.RawMessage("{}")
	case !json.Valid(args):
		return wrapped(rawjson.Quote(c.malformed(string(args))))
	}
	clean := c.rewrite(rawjson.Compact(args), 0)
	switch {
	case clean[0] == '{':
		return clean
	case c.hides(): // nobody knows whether it is SQL
		return wrapped(rawjson.Quote(redact.Mark))
	}
	return wrapped(clean)
}

func wrapped(value json.RawMessage) json.RawMessage {
	return append(append([]byte(`{"arguments":`), value...), '}')
}

// malformed is what may be shown of arguments that are no JSON, before it is cut.
func (c *cleaner) malformed(text string) string {
	if c.hides() {
		return redact.Mark
	}
	c.excerpt = true
	return c.text(untilSecretName(text))
}

// excerpted is {"arguments":"…"} with the beginning of the text alone. It is cut when the secrets are out of it: of one
// that was cut in two a part would be left.
func excerpted(args json.RawMessage) json.RawMessage {
	text := gjson.GetBytes(args, "arguments").Str
	n := 0
	for i := range text {
		if n++; n > maxShort {
			text = text[:i]
			break
		}
	}
	return wrapped(rawjson.Quote(text))
}

// reduced stands for arguments that are left out: how many bytes they had, and the short texts that say what the call was
// about.
func reduced(args json.RawMessage, size int) json.RawMessage {
	out := strconv.AppendInt([]byte(`{"omitted_bytes":`), int64(size), 10)
	for _, key := range [...]string{"id", "name", "pipeline_id", "uri", "sql_hash"} {
		if v := gjson.GetBytes(args, key); v.Type == gjson.String && utf8.RuneCountInString(v.Str) <= maxShort {
			out = append(append(append(out, ',', '"'), key...), '"', ':')
			out = append(out, rawjson.Quote(v.Str)...)
		}
	}
	return append(out, '}')
}

// depth is how deep valid JSON is nested.
func depth(raw json.RawMessage) int {
	deepest, now := 0, 0
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			i = stringEnd(raw, i) - 1
		case '{', '[':
			now++
			deepest = max(deepest, now)
		case '}', ']':
			now--
		}
	}
	return deepest
}

// stringEnd is where the string that opens at raw[i] has ended, in valid JSON.
func stringEnd(raw []byte, i int) int {
	for i++; i < len(raw) && raw[i] != '"'; i++ {
		if raw[i] == '\\' {
			i++
		}
	}
	return min(i+1, len(raw))
}

// valueEnd is where the value has ended with which the rest of valid JSON begins.
func valueEnd(raw []byte) int {
	open, i := 0, 0
	for i < len(raw) {
		switch raw[i] {
		case '"':
			i = stringEnd(raw, i) - 1
		case '{', '[':
			open++
		case '}', ']':
			if open--; open < 0 {
				return i
			}
		case ',':
			if open == 0 {
				return i
			}
		}
		i++
	}
	return i
}
