package source

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// sh is a command that a shell interprets.
func sh(script string) []string { return []string{"sh", "-c", script} }

// at is a host in a folder of the test.
func at(t *testing.T) Host {
	t.Helper()
	return Host{Dir: t.TempDir(), Env: []string{"PATH=" + os.Getenv("PATH")}}
}

func TestWorkflows(t *testing.T) {
	for _, c := range []struct {
		script, want string
		failed       fault.Type
	}{
		{`echo '[1]'`, `[1]`, ""},
		{`echo '{"result":[1]}'`, `[1]`, ""},
		{`echo '{"workflows":[]}'`, `[]`, ""},
		{`echo '{"result":{"workflows":[1]}}'`, `[1]`, ""},
		{`echo '{"workflows":[1],"count":1}'`, "", fault.Protocol},
		{`echo '{"items":[1]}'`, "", fault.Protocol},
		{`echo null`, "", fault.Protocol},
		{`echo`, "", fault.Protocol},
		{`printf 'a\033[31m\377'`, "", fault.Protocol},
		{`printf 'lost\033[31m' >&2; exit 4`, "", fault.Execution},
		{`kill -9 $$`, "", fault.Execution},
	} {
		s := &Source{Name: "s", List: sh(c.script)}
		got, err := s.Workflows(t.Context(), at(t))
		f := fault.From(err)
		switch {
		case c.failed == "" && (err != nil || string(got) != c.want):
			t.Errorf("%s: %s, %v", c.script, got, err)
		case c.failed != "" && (f == nil || f.Type != c.failed || strings.ContainsAny(f.Message, "\x1b") || !json.Valid([]byte(mustJSON(t, f)))):
			t.Errorf("%s: %s, %+v", c.script, got, f)
		case strings.Contains(c.script, "exit 4") && (f.Details["exit_status"] != 4 || !strings.Contains(f.Message, "lost")):
			t.Errorf("%s: %+v", c.script, f)
		}
	}
}

func mustJSON(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// A command that does not exist is named. A program of the suite is found beside the others, after those on PATH.
func TestTheProgramIsLookedUp(t *testing.T) {
	h := at(t)
	if _, err := (&Source{Name: "s", List: []string{"no-such-program"}}).Workflows(t.Context(), h); err == nil || fault.From(err).Type != fault.NotFound || !strings.Contains(err.Error(), "no-such-program") {
		t.Error(err)
	}
	h.Suite = t.TempDir()
	if err := os.WriteFile(filepath.Join(h.Suite, "pflow-own"), []byte("#!/bin/sh\necho '[\"own\"]'\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got, err := (&Source{Name: "s", List: []string{"pflow-own"}}).Workflows(t.Context(), h); err != nil || string(got) != `["own"]` {
		t.Error(got, err)
	}
}

// What a source prints has a limit.
func TestAnEndlessListIsEnded(t *testing.T) {
	_, err := (&Source{Name: "s", List: sh(`yes '[1,'`)}).Workflows(t.Context(), at(t))
	if f := fault.From(err); f == nil || f.Type != fault.TooLarge {
		t.Error(err)
	}
	_, err = (&Source{Name: "s", List: sh(`echo '[0'; seq -f ',%.0f' 10000; echo ']'`)}).Workflows(t.Context(), at(t))
	if f := fault.From(err); f == nil || f.Type != fault.TooLarge {
		t.Error(err)
	}
}

func FuzzUnwrapped(f *testing.F) {
	f.Add([]byte(`{"result":{"workflows":[1]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if json.Valid(data) && !json.Valid(unwrapped(data)) {
			t.Errorf("%q becomes %q", data, unwrapped(data))
		}
	})
}
