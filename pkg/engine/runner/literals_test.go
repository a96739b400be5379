package runner

import (
	"testing"

	"github.com/tidwall/gjson"
)

func TestRestored(t *testing.T) {
	for name, c := range map[string]struct{ stored, file, want, where string }{
		"nothing":           {`{"a": 1}`, `{"b":2}`, `{"a": 1}`, ""},
		"a literal":         {`{"n":1.0,"api_key":"<redacted>"}`, `{"api_key":"lit","n":2}`, `{"n":1.0,"api_key":"lit"}`, ""},
		"in a text":         {`{"h":"Bearer <redacted>, and <redacted>!"}`, `{"h":"Bearer one, and two!"}`, `{"h":"Bearer one, and two!"}`, ""},
		"another text":      {`{"h":"Bearer <redacted>"}`, `{"h":"Basic one"}`, "", "h"},
		"a longer text":     {`{"h":"<redacted>!"}`, `{"h":"one! two"}`, "", "h"},
		"a template":        {`{"a":{"token":"<redacted>"}}`, `{"a":{"token":"${t}"}}`, "", "a.token"},
		"gone":              {`{"a":{"token":"<redacted>"}}`, `{"a":{}}`, "", "a.token"},
		"empty":             {`{"token":"<redacted>"}`, `{"token":""}`, "", "token"},
		"nodes by id":       {`{"nodes":[{"id":"b","t":"<redacted>"},{"id":"c"}]}`, `{"nodes":[{"id":"new","t":"x"},{"id":"b","t":"y"}]}`, `{"nodes":[{"id":"b","t":"y"},{"id":"c"}]}`, ""},
		"a list":            {`["a","<redacted>"]`, `["b","c","d"]`, `["a","c"]`, ""},
		"a shorter list":    {`{"l":["a","<redacted>"]}`, `{"l":["b"]}`, "", "l[1]"},
		"a number":          {`["<redacted>"]`, `[12345678]`, `[12345678]`, ""},
		"an object now":     {`["<redacted>"]`, `[{}]`, "", "[0]"},
		"a key":             {`{"x <redacted>":1,"b":"<redacted>"}`, `{"x one":3,"b":"two"}`, `{"x one":1,"b":"two"}`, ""},
		"a key that is not": {`{"x <redacted>":1}`, `{"y one":3}`, "", "x <redacted>"},
		"the mark itself":   {`{"a":"say <redacted>"}`, `{"a":"say <redacted>"}`, `{"a":"say <redacted>"}`, ""},
		"escapes":           {`{"a\"b":"<redacted>\n"}`, `{"a\"b":"o\\n\"e\n"}`, `{"a\"b":"o\\n\"e\n"}`, ""},
	} {
		whole, where := restored(gjson.Parse(c.stored), gjson.Parse(c.file), "")
		if string(whole) != c.want || where != c.where {
			t.Errorf("%s: %s at %q, want %s at %q", name, whole, where, c.want, c.where)
		}
	}
}
