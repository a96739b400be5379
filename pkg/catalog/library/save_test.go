package library

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
)

func now(s string) string {
	return regexp.MustCompile(`"20\d\d-[^"]*Z"`).ReplaceAllString(s, `"NOW"`)
}

func saved(t *testing.T, h *home.Home, name string) string {
	t.Helper()
	b, err := os.ReadFile(h.Path("library", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestSaveKeepsTheAuthorsText(t *testing.T) {
	for name, tt := range map[string]struct{ draft, description, want string }{
		"compact": {`{"nodes":[{"id":"a","type":"echo"}]}`, "",
			`{"nodes":[{"id":"a","type":"echo"}],"created_at":"NOW","updated_at":"NOW","version":"1.0.0"}`},
		"laid out": {"{\n    \"nodes\": [ {\"id\":\"a\",\n\"type\":\"echo\"} ],\n    \"ir_version\": \"0.1.0\"\n}\n", `A "<new>" one`,
			"{\n    \"nodes\": [ {\"id\":\"a\",\n\"type\":\"echo\"} ],\n    \"ir_version\": \"0.1.0\",\n    \"description\": \"A \\\"<new>\\\" one\",\n    \"created_at\": \"NOW\",\n    \"updated_at\": \"NOW\",\n    \"version\": \"1.0.0\"\n}\n"},
		"replaced": {`{ "description": "old", "version": "2.1.0", "updated_at": "2020-01-01T00:00:00+01:00", "created_at": "2019-05-05T00:00:00+02:00", "nodes": [{"id":"a","type":"echo"}]}`, "new",
			`{ "description": "new", "version": "2.1.0", "updated_at": "NOW", "created_at": "2019-05-05T00:00:00+02:00", "nodes": [{"id":"a","type":"echo"}]}`},
		"wrapped": {`{"description":"old","ir":{"nodes":[{"id":"a","type":"echo"}]}}`, "new",
			`{"description":"new","ir":{"nodes":[{"id":"a","type":"echo"}]},"created_at":"NOW","updated_at":"NOW","version":"1.0.0"}`},
		"wrapped twice described": {`{"description":"old","ir":{"description":"inner","nodes":[{"id":"a","type":"echo"}]}}`, "new",
			`{"description":"old","ir":{"description":"new","nodes":[{"id":"a","type":"echo"}]},"created_at":"NOW","updated_at":"NOW","version":"1.0.0"}`},
		"byte order mark": {"\xef\xbb\xbf{\"nodes\":[{\"id\":\"a\",\"type\":\"echo\"}]}", "",
			`{"nodes":[{"id":"a","type":"echo"}],"created_at":"NOW","updated_at":"NOW","version":"1.0.0"}`},
		"space before": {"\n { \"nodes\":[{\"id\":\"a\",\"type\":\"echo\",\"params\":{\"n\":12345678901234567890}}] }", "",
			"\n { \"nodes\":[{\"id\":\"a\",\"type\":\"echo\",\"params\":{\"n\":12345678901234567890}}], \"created_at\": \"NOW\", \"updated_at\": \"NOW\", \"version\": \"1.0.0\" }"},
	} {
		t.Run(name, func(t *testing.T) {
			l, h := open(t, map[string]string{"workflows/draft.json": tt.draft})
			e, err := l.Save(t.Context(), "draft", "final", tt.description, false)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, now(saved(t, h, "final"))); d != "" {
				t.Error(d)
			}
			if f, err := e.Load(); !e.Saved || e.Name != "final" || err != nil || tt.description != "" && f.Workflow.Description != tt.description || f.UpdatedAt.IsZero() {
				t.Errorf("%+v %v", e, err)
			}
			if _, err := os.Stat(h.Path("workflows", "draft.json")); !os.IsNotExist(err) {
				t.Error("the draft is left:", err)
			}
			if files, _ := os.ReadDir(h.Path("library")); len(files) != 1 {
				t.Error("something else is in the library:", files)
			}
		})
	}
}

func TestSaveRefuses(t *testing.T) {
	files := map[string]string{"workflows/draft.json": hello, "workflows/bad.json": "{", "library/taken.json": `{"nodes":[{"id":"old","type":"echo"}]}`}
	for name, tt := range map[string]struct {
		draft, final string
		want         fault.Type
		message      string
	}{
		"taken":      {"draft", "taken", fault.AlreadyExists, "already has"},
		"no draft":   {"drafft", "x", fault.NotFound, `There is no draft "drafft"`},
		"only saved": {"taken", "x", fault.NotFound, "saved already"},
		"broken":     {"bad", "x", fault.Validation, "Invalid JSON in bad"},
		"reserved":   {"draft", "settings", fault.Validation, "reserved"},
		"path":       {"draft", "../x", fault.Security, "not allowed"},
	} {
		t.Run(name, func(t *testing.T) {
			l, h := open(t, files)
			_, err := l.Save(t.Context(), tt.draft, tt.final, "", false)
			f := fault.From(err)
			if f == nil || f.Type != tt.want || !strings.Contains(f.Message, tt.message) || strings.Contains(f.Message, h.Dir()) {
				t.Errorf("%+v", f)
			}
			if name == "taken" && !strings.Contains(f.Message, `"taken"`) {
				t.Errorf("%s does not name the workflow", f.Message)
			}
			for path, text := range files {
				if b, err := h.Read(path); string(b) != text || err != nil {
					t.Errorf("%s was changed: %s %v", path, b, err)
				}
			}
		})
	}
}

func TestSaveWithForceReplacesAndKeepsTheFirstDate(t *testing.T) {
	l, h := open(t, map[string]string{"workflows/draft.json": hello,
		"library/taken.json": `{"nodes":[{"id":"old","type":"echo"}],"created_at":"2020-02-03T04:05:06Z"}`})
	if _, err := l.Save(t.Context(), "draft", "taken", "", true); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Description string
		CreatedAt   string `json:"created_at"`
	}
	if err := json.Unmarshal([]byte(saved(t, h, "taken")), &got); err != nil || got.Description != "Says hello" || got.CreatedAt != "2020-02-03T04:05:06Z" {
		t.Errorf("%+v %v", got, err)
	}
}

func TestOfSavesOfOneNameOneWins(t *testing.T) {
	files := map[string]string{}
	for i := range 8 {
		files[fmt.Sprintf("workflows/d%d.json", i)] = hello
	}
	l, h := open(t, files)
	var wins atomic.Int32
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			switch _, err := Open(h).Save(t.Context(), fmt.Sprintf("d%d", i), "final", "", false); {
			case err == nil:
				wins.Add(1)
			case fault.From(err).Type != fault.AlreadyExists:
				t.Error(err)
			}
		})
	}
	wg.Wait()
	drafts, err := l.List(true, "d?")
	if wins.Load() != 1 || len(drafts) != 7 || err != nil {
		t.Errorf("%d won, %d drafts are left, %v", wins.Load(), len(drafts), err)
	}
}

// The file of a program that does not take the lock is not overwritten either.
func TestPutNeverOverwrites(t *testing.T) {
	l, h := open(t, map[string]string{"library/x.json": "theirs"})
	if err := l.put("x.json", []byte("ours"), nil); fault.From(err).Type != fault.AlreadyExists {
		t.Error(err)
	}
	if got := saved(t, h, "x"); got != "theirs" {
		t.Error(got)
	}
	if files, _ := os.ReadDir(h.Path("library")); len(files) != 1 {
		t.Error("a temporary is left:", files)
	}
}
