package fault

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestExitStatus(t *testing.T) {
	for typ, want := range map[Type]int{
		Usage: 2, Validation: 2, Security: 2, NotFound: 2, AlreadyExists: 2,
		Execution: 1, Template: 1, Protocol: 1, Unavailable: 1, Conflict: 1, RateLimited: 1, TooLarge: 1, Timeout: 1, Internal: 1,
	} {
		if got := New(typ, "x").ExitStatus(); got != want {
			t.Errorf("%s: exit status %d, want %d", typ, got, want)
		}
	}
}

func TestFromFindsTheFaultInAChain(t *testing.T) {
	f := New(NotFound, "no such thing")
	if got := From(fmt.Errorf("while looking: %w", f)); got != f {
		t.Errorf("From = %v", got)
	}
	if got := From(errors.New("boom")); got.Type != Internal || got.Message != "boom" {
		t.Errorf("From(plain error) = %+v", got)
	}
	if From(nil) != nil {
		t.Error("From(nil) is not nil")
	}
}

func TestJoinCounts(t *testing.T) {
	one := New(Validation, "a")
	if Join(Validation, "w.json", nil) != nil || Join(Validation, "w.json", []*Fault{one}) != one {
		t.Error("Join of no fault or one fault must not wrap it")
	}
	two := Join(Validation, "w.json", []*Fault{one, {Type: Validation, Message: "b", File: "w.json", Line: 3, Column: 4}})
	if got, want := two.Error(), "w.json: 2 errors\n  a\n  w.json:3:4: b"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestLinesSayEachErrorOnce(t *testing.T) {
	a, b := &Fault{Type: Template, Message: "a", Path: "outputs.x"}, &Fault{Type: Template, Message: "b"}
	for want, f := range map[string]*Fault{
		"a":                          a,
		"w: 2 errors|outputs.x: a|b": Join(Template, "w", []*Fault{a, b}),
		"outputs.x: a|b":             Join(Validation, "w", []*Fault{a, b}),
		"w: 12 errors|b|b|b|b|b|b|b|b|b|b|… and 2 more": Join(Template, "w", []*Fault{b, b, b, b, b, b, b, b, b, b, b, b}),
	} {
		if got := strings.Join(f.Lines(), "|"); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}

func TestJoinOfOneTypeOpensWithTheFirst(t *testing.T) {
	f := Join(Validation, "w.json", []*Fault{{Type: Template, Message: "Template ${a} not resolved", Node: "n", Missing: []string{"a"}}, {Type: Template, Message: "x", Missing: []string{"b"}}})
	if !f.OnlySums() || f.Errors[0].OnlySums() {
		t.Errorf("%+v", f)
	}
	if f.Type != Template || f.Node != "n" || f.Message != "Template ${a} not resolved (the first of 2 errors)" || len(f.Missing) != 2 {
		t.Errorf("%+v", f)
	}
}

func TestJSONHasOnlyWhatHelps(t *testing.T) {
	b, err := json.Marshal(New(Usage, "no").Suggest("do %s", "this"))
	if err != nil || string(b) != `{"type":"usage_error","message":"no","suggestions":["do this"]}` {
		t.Errorf("%s %v", b, err)
	}
}

func TestNearest(t *testing.T) {
	names := []string{"command", "cwd", "timeout", "file_path"}
	for in, want := range map[string]string{"comand": "command", "cmd": "cwd", "Timeout": "timeout", "filepath": "file_path", "zzzz": "", "timeuot": "timeout"} {
		if got, _ := Nearest(in, names); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestWithinFits(t *testing.T) {
	many := New(Validation, "w: 9000 errors")
	for i := range 9000 {
		many.Errors = append(many.Errors, New(Validation, "error %d", i).Suggest("%s", strings.Repeat("s", 100)))
	}
	listed := New(Usage, "m")
	listed.Available = strings.Fields(strings.Repeat("name ", 5000))
	for name, c := range map[string]struct {
		f    *Fault
		want func(got *Fault) bool
	}{
		"what fits": {New(Usage, "m").Suggest("s"), func(got *Fault) bool { return got.Message == "m" && len(got.Suggestions) == 1 }},
		"many errors": {many, func(got *Fault) bool {
			return got.Message == many.Message && len(got.Errors) > 4 && got.Errors[3] == many.Errors[3] && got.ErrorsTotal == 9000
		}},
		"a long list": {listed, func(got *Fault) bool { return len(got.Available) > 100 }},
		"details":     {New(Usage, "m").Detail("d", strings.Repeat("x", 9000)), func(got *Fault) bool { return got.Message == "m" && got.Details == nil }},
		"a long message": {New(Usage, "%s", strings.Repeat("\x01é", 9000)), func(got *Fault) bool {
			return strings.HasSuffix(got.Message, "é…") || strings.HasSuffix(got.Message, "\x01…")
		}},
		"one long error": {&Fault{Type: Usage, Message: "m", Errors: []*Fault{New(Usage, "%s", strings.Repeat("x", 9000))}}, func(got *Fault) bool {
			return len(got.Errors) == 1 && strings.HasSuffix(got.Errors[0].Message, "x…") && got.ErrorsTotal == 0
		}},
	} {
		before := len(c.f.Errors)
		got := c.f.LimitBytes(8000)
		raw, err := json.Marshal(got)
		if err != nil || len(raw) > 8000 || !c.want(got) || len(c.f.Errors) != before {
			t.Errorf("%s: %d bytes, %.200s %v", name, len(raw), raw, err)
		}
	}
}
