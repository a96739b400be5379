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
		`include "x"; .`: {0, "cannot load module", "load modules"},
	} {
		f := Check(filter, []string{"name"})
		switch {
		case f == nil:
			t.Errorf("no fault is found in %q", filter)
		case f.Path != "params.filter" || f.Details["offset"] != want.offset || !strings.Contains(f.Message, want.message) || !strings.Contains(strings.Join(f.Suggestions, "\n"), want.suggests):
			t.Errorf("%q: %+v", filter, f)
		}
	}
	if f := Check("$other", []string{"name"}); f == nil || !slices.Equal(f.Missing, []string{"other"}) || !slices.Equal(f.Available, []string{"name"}) {
		t.Errorf("%+v", f)
	}
	for _, name := range []string{"", "a-b", "1a", "ü", "a b"} {
		if f := Check(".", []string{name}); f == nil || !strings.Contains(f.Message, "$"+name) {
			t.Errorf("%q: %+v", name, f)
		}
	}
	for _, filter := range []string{"$name", "inputs", "debug", `debug("x")`, "stderr", "input_filename", "$ENV.PATH", "env", "limit(3; .[])", "@base64d", "ltrimstr(\"x\")", "getpath([\"a\"])", "def f: 1; f"} {
		if f := Check(filter, []string{"name"}); f != nil {
			t.Errorf("%s: %+v", filter, f)
		}
	}
}

// FuzzCheck checks that no filter makes Check panic, and that the offset of a fault is in the filter.
func FuzzCheck(f *testing.F) {
	for _, seed := range []string{".", ".a |", "$x", "\"\\(", "{a:", ".[1:", "reduce .[] as $i (0; . + $i)", "ü", "'", "@x", "import \"a\" as $b; ."} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, filter string) {
		p := Check(filter, nil)
		if p == nil {
			return
		}
		if at, ok := p.Details["offset"].(int); !ok || at < 0 || at > len(filter) || p.Message == "" || len(p.Suggestions) == 0 {
			t.Errorf("%q: %+v", filter, p)
		}
	})
}
