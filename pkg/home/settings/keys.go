package settings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// maxDepth is the number of keys of a path that tokens passes on. No setting is as deep.
const maxDepth = 6

// tokens calls see for every token of a JSON text, with its end in the text and whether it is a key. The path of a key or a
// value has its first maxDepth keys, with a number for a place in a list.
func tokens(text []byte, see func(path []string, t json.Token, key bool, end int64)) {
	type level struct {
		object bool
		count  int
		key    string
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var levels []level
	for {
		t, err := d.Token()
		if err != nil {
			return
		}
		delim, _ := t.(json.Delim)
		if delim == '}' || delim == ']' {
			levels = levels[:len(levels)-1]
			see(nil, t, false, d.InputOffset())
			continue
		}
		key := false
		if last := len(levels) - 1; last >= 0 {
			l := &levels[last]
			if key = l.object && l.count%2 == 0; key {
				l.key = t.(string)
			} else if !l.object {
				l.key = fmt.Sprint(l.count)
			}
			l.count++
		}
		var path []string
		for _, l := range levels[:min(len(levels), maxDepth)] {
			path = append(path, l.key)
		}
		see(path, t, key, d.InputOffset())
		if delim != 0 {
			levels = append(levels, level{object: delim == '{'})
		}
	}
}

// known returns the names of the settings in the object at a path, in which * stands for any key. It returns "" if the object
// may have any keys.
func known(above string) string {
	switch above {
	case "":
		return "env vars registry runtime approval runners llm"
	case "registry":
		return "nodes"
	case "registry.nodes":
		return "allow deny"
	case "runtime":
		return "template_resolution_mode max_output fail_degraded max_runs"
	case "approval":
		return "by"
	case "llm":
		return "default_model provider prices"
	case "llm.prices.*":
		return "input output cache_read cache_write"
	}
	return ""
}

// exactKeys replaces keys that differ from settings only in case, such as "Env", by others of the same length, because the decoder
// of encoding/json would accept them.
func exactKeys(source []byte) []byte {
	text := bytes.Clone(source)
	tokens(source, func(path []string, t json.Token, key bool, end int64) {
		if !key {
			return
		}
		above := slices.Clone(path[:len(path)-1])
		if len(above) == 3 && above[0] == "llm" && above[1] == "prices" {
			above[2] = "*"
		}
		names := known(strings.Join(above, "."))
		if names == "" || slices.Contains(strings.Fields(names), t.(string)) {
			return
		}
		for at := end - 2; at >= 0 && !opens(source, at); at-- {
			text[at] = '_'
		}
	})
	return text
}

// opens reports whether the character is the quotation mark that begins a text. One inside a text has a backslash before it.
func opens(source []byte, at int64) bool {
	if source[at] != '"' {
		return false
	}
	escapes := 0
	for at--; at >= 0 && source[at] == '\\'; at-- {
		escapes++
	}
	return escapes%2 == 0
}

// Masked returns the document as JSON on one line, with a mark in place of every value under every key env, in upper or lower
// case.
func (d *Document) Masked(mark string) json.RawMessage {
	var out []byte
	valued := false // whether the last token ended a value
	tokens(d.text, func(path []string, t json.Token, key bool, _ int64) {
		delim, _ := t.(json.Delim)
		if valued && delim != '}' && delim != ']' {
			out = append(out, ',')
		}
		value, err := rawjson.Marshal(t)
		switch {
		case delim != 0:
			out = append(out, byte(delim))
		case !key && len(path) > 0 && strings.EqualFold(path[0], "env"):
			out = append(out, rawjson.Quote(mark)...)
		case err == nil:
			out = append(out, value...)
		}
		if key {
			out = append(out, ':')
		}
		valued = !key && delim != '{' && delim != '['
	})
	return out
}
