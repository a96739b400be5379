package form_test

import (
	"slices"
	"testing"

	"github.com/pflow-suite/pflow/pkg/mcp/form"
)

var fields = form.Form(`{"type":"object","properties":{
	"size":{"type":"string","enum":["small","large"]},
	"count":{"type":"integer","minimum":2,"title":"How many"},
	"gift":{"type":"boolean","default":false},
	"tags":{"type":"array","items":{"type":"string","enum":["a","b"]}}},"required":["size"]}`)

func TestCheck(t *testing.T) {
	for answer, path := range map[string]string{
		`{"size":"small"}`:                        "fits",
		`{"size":"large","count":2,"tags":["a"]}`: "fits",
		"no":                                "fits",
		"decline":                           "fits",
		"yes":                               "", // a field is required
		`{"size":"medium"}`:                 "size",
		`{"size":"small","count":1}`:        "count",
		`{"size":"small","count":2.5}`:      "count",
		`{"size":"small","tags":["a","c"]}`: "tags[1]",
		`{"size":"small","cuont":2}`:        "",
		`["small"]`:                         "",
		`{"size":"small"`:                   "",
		"":                                  "",
	} {
		got := "fits"
		if f := fields.Check(answer); f != nil {
			got = f.Path
		}
		if got != path {
			t.Errorf("%q: %q, not %q", answer, got, path)
		}
	}
}

func TestChoices(t *testing.T) {
	if got := fields.Choices(); !slices.Equal(got, []string{"no", "cancel"}) {
		t.Errorf("choices are %q", got)
	}
	for _, empty := range []form.Form{form.Form(`{"type":"object","properties":{}}`), form.Form(`{"type":"object","properties":{"note":{"type":"string"}}}`)} {
		if got := empty.Choices(); !slices.Equal(got, []string{"yes", "no", "cancel"}) || empty.Check("yes") != nil {
			t.Errorf("choices of %s are %q", empty, got)
		}
	}
}

func TestExampleFits(t *testing.T) {
	if f := fields.Check(fields.Example()); f != nil {
		t.Errorf("%s: %v", fields.Example(), f)
	}
}

func TestFill(t *testing.T) {
	for name, c := range map[string]struct {
		lines []string
		want  string
	}{
		"one by one":           {[]string{"yes", "small", "3", "y", "a, b"}, `{"count":3,"gift":true,"size":"small","tags":["a","b"]}`},
		"defaults":             {[]string{"", "large", "", "", ""}, `{"gift":false,"size":"large"}`},
		"wrong ones again":     {[]string{"y", "", "medium", "small", "1", "two", "2", "maybe", "no", "c", "b"}, `{"count":2,"gift":false,"size":"small","tags":["b"]}`},
		"an object":            {[]string{`{"size":"tiny"}`, `{"size":"small"}`}, `{"size":"small"}`},
		"no":                   {[]string{"n"}, "no"},
		"cancel":               {[]string{"cancel"}, "cancel"},
		"the input ends":       {[]string{"yes", "small"}, ""},
		"the input ends early": {nil, ""},
	} {
		next := 0
		got := fields.Fill(func(string) (string, bool) {
			if next == len(c.lines) {
				return "", false
			}
			next++
			return c.lines[next-1], true
		}, func(string) {})
		if got != c.want || next != len(c.lines) {
			t.Errorf("%s: %q after %d lines", name, got, next)
		}
	}
}
