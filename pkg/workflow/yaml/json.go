package yaml

import (
	"math/big"
	"strings"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// AppendJSON appends the node as JSON. A plain scalar is what YAML 1.1 takes it for, so yes, no, on and off are true and
// false; but what looks like a date, a time of day or a number with leading zeros is text, as it is for those who write
// it. Numbers that JSON can write too keep their spelling, the others get the one of JSON.
func (n Node) AppendJSON(dst []byte) ([]byte, []Error) {
	var errors []Error
	switch n.Kind {
	case Null:
		return append(dst, "null"...), nil
	case Plain:
		value, ok := scalar(n.Text)
		if !ok {
			errors = []Error{{n.At, n.Text + ", which JSON cannot say", "Put it into double quotes where text will do"}}
		}
		return append(dst, value...), errors
	case List:
		dst = append(dst, '[')
		for i, item := range n.Items {
			if i > 0 {
				dst = append(dst, ',')
			}
			var more []Error
			dst, more = item.AppendJSON(dst)
			errors = append(errors, more...)
		}
		return append(dst, ']'), errors
	case Mapping:
		dst = append(dst, '{')
		for i, e := range n.Entries {
			if i > 0 {
				dst = append(dst, ',')
			}
			var more []Error
			dst, more = e.Value.AppendJSON(append(rawjson.AppendQuoted(dst, e.Key), ':'))
			errors = append(errors, more...)
		}
		return append(dst, '}'), errors
	}
	return rawjson.AppendQuoted(dst, n.Text), nil
}

// scalar is the JSON value of text without quotes; false when JSON has none, as for .inf.
func scalar(s string) ([]byte, bool) {
	switch s {
	case "", "~", "null", "Null", "NULL":
		return []byte("null"), true
	case "true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON":
		return []byte("true"), true
	case "false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF":
		return []byte("false"), true
	}
	if n, ok := number(s); ok {
		return []byte(n), true
	}
	switch strings.TrimLeft(s, "+-") {
	case ".inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN":
		return []byte("null"), false
	}
	return rawjson.Quote(s), true
}

// maxNumber is the most characters of a number that is not written as in JSON.
const maxNumber = 1000

// number is the JSON spelling of a number; false for what is none.
func number(s string) (string, bool) {
	sign, rest := "", s
	if s[0] == '-' || s[0] == '+' {
		sign, rest = strings.TrimPrefix(s[:1], "+"), s[1:]
	}
	if len(rest) > 2 && len(rest) < maxNumber && rest[0] == '0' && strings.IndexByte("xob", rest[1]) >= 0 && isAlphanumeric(rest[2]) {
		n, ok := new(big.Int).SetString(strings.ReplaceAll(rest, "_", ""), 0)
		if !ok {
			return "", false
		}
		return sign + n.String(), true
	}
	whole, after := digits(rest, true)
	fraction, exponent := "", ""
	if strings.HasPrefix(after, ".") {
		fraction, after = digits(after[1:], false)
		fraction = "." + fraction
	}
	if whole == "" && len(fraction) < 2 || len(whole) > 1 && whole[0] == '0' {
		return "", false
	}
	if after != "" && (after[0] == 'e' || after[0] == 'E') {
		mark := 1
		if len(after) > 1 && (after[1] == '-' || after[1] == '+') {
			mark = 2
		}
		power, rest := digits(after[mark:], false)
		if power == "" {
			return "", false
		}
		exponent, after = after[:mark]+power, rest
	}
	if whole == "" {
		whole = "0"
	}
	if fraction == "." {
		fraction = ".0"
	}
	return sign + whole + fraction + exponent, after == ""
}

// digits takes the digits off the front of a text. With grouped they may stand in threes with _ between them, as in 1_000.
func digits(s string, grouped bool) (taken, rest string) {
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	taken, rest = s[:i], s[i:]
	for grouped && i > 0 && i <= 3 && len(s) < maxNumber && len(rest) >= 4 && rest[0] == '_' {
		group, after := digits(rest[1:], false)
		if len(group) != 3 {
			break
		}
		taken, rest = taken+group, after
	}
	return taken, rest
}

func isAlphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
