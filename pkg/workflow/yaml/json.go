package yaml

import (
	"math/big"
	"strings"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// AppendJSON appends the node as JSON to dst. A plain scalar has the type that YAML 1.1 gives it, so yes, no, on and off
// are true and false, except that dates, times of day and numbers with leading zeros are text. A number keeps its spelling
// if it is valid JSON. An error means that a value has no JSON form.
func (n Node) AppendJSON(dst []byte) ([]byte, []Error) {
	var errors []Error
	switch n.Kind {
	case Null:
		return append(dst, "null"...), nil
	case Plain:
		value, ok := scalar(n.Text)
		if !ok {
			errors = []Error{{n.At, n.Text + " is not a number that JSON has", "Put it into double quotes to make it text"}}
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

// scalar returns the JSON value of text without quotes; ok is false if JSON has no such value, as for .inf.
func scalar(s string) (value []byte, ok bool) {
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

// maxNumber bounds the length of a number that is not valid JSON, which has to be converted.
const maxNumber = 1000

// number returns the JSON spelling of a number; ok is false if s is not a number.
func number(s string) (spelling string, ok bool) {
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

// digits splits s after its leading digits. If grouped, the digits may be in groups of three with _ between, as in 1_000,
// and taken omits the underscores.
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
