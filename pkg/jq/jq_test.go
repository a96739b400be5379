package jq

import (
	"slices"
	"strings"
	"testing"
)

func TestProblems(t *testing.T) {
	for filter, want := range map[string]struct {
		offset            int
		message, suggests string
	}{
		".a |":           {4, "unexpected EOF", "Something is missing"},
		".a || .b":       {4, `unexpected token "|"`, `"and" and "or"`},
		".[] & 1":        {4, `unexpected token "&"`, `"and" and "or"`},
		"ü | .":          {0, `unexpected token "ü"`, "Correct the filter"},
		`"ü" | }`:        {7, `unexpected token "}"`, "Correct the filter"},
		".a == 'x'":      {6, `unexpected token "'"`, `"double quotes"`},
		`.a == "x`:       {8, "unterminated string", `with a "`},
		"$nme":           {0, "variable not defined: $nme", "Did you mean $name?"},
		".a + $other":    {5, "variable not defined: $other", `"args": {"other": …}`},
		".a | mapp(.b)":  {5, "function not defined: mapp/1", "Did you mean map?"},
		".map | map":     {7, "function not defined: map/0", "another number of arguments: 1"},
		"[sub(\"a\")]":   {1, "function not defined: sub/1", "2 or 3"},
		"hello":          {0, "function not defined: hello/0", `"double quotes"`},
		`include "x"; .`: {0, "cannot load module", "no modules"},
	} {
		_, p := Compile(filter, []string{"name"}, NoInputs(), nil)
		switch {
		case p == nil:
			t.Errorf("%q is found right", filter)
		case p.Offset != want.offset || !strings.Contains(p.Message, want.message) || !strings.Contains(strings.Join(p.Suggestions, "\n"), want.suggests):
			t.Errorf("%q: %d %q %q", filter, p.Offset, p.Message, p.Suggestions)
		}
	}
	if _, p := Compile("$other", []string{"name"}, NoInputs(), nil); p == nil || p.Variable != "other" || !slices.Equal(p.Available, []string{"name"}) {
		t.Errorf("%+v", p)
	}
	for _, name := range []string{"", "a-b", "1a", "ü", "a b"} {
		if _, p := Compile(".", []string{name}, NoInputs(), nil); p == nil || !strings.Contains(p.Message, "$"+name) {
			t.Errorf("%q: %+v", name, p)
		}
	}
	for _, filter := range []string{"$name", "inputs", "debug", `debug("x")`, "stderr", "input_filename", "$ENV.PATH", "env", "limit(3; .[])", "@base64d", "ltrimstr(\"x\")", "getpath([\"a\"])", "def f: 1; f"} {
		if _, p := Compile(filter, []string{"name"}, NoInputs(), nil); p != nil {
			t.Errorf("%s: %+v", filter, p)
		}
	}
}

// No filter makes the reader of filters panic, and what is wrong stands in the filter.
func FuzzCompile(f *testing.F) {
	for _, seed := range []string{".", ".a |", "$x", "\"\\(", "{a:", ".[1:", "reduce .[] as $i (0; . + $i)", "ü", "'", "@x", "import \"a\" as $b; ."} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, filter string) {
		_, p := Compile(filter, nil, NoInputs(), nil)
		if p != nil && (p.Offset < 0 || p.Offset > len(filter) || p.Message == "" || len(p.Suggestions) == 0) {
			t.Errorf("%q: %+v", filter, p)
		}
	})
}
