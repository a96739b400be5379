package veloflux

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/internal/velofluxserver"
	"github.com/pflow-suite/pflow/pkg/process"
)

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}

func gone(t *testing.T, s *velofluxserver.Server) {
	t.Helper()
	eventually(t, "all temporary pipelines are gone", func() bool { return len(s.Pipelines()) == 0 })
}

// steps returns the requests that were made, as method and route, without the temporary id and without those of sweeps.
func steps(s *velofluxserver.Server) string {
	var list []string
	for _, r := range s.Requests() {
		if r.Method+r.Path == "GET/pipelines" {
			continue
		}
		id := ""
		if i := strings.Index(r.Path, temporaryPrefix); i >= 0 {
			id, _, _ = strings.Cut(r.Path[i:], "/")
		}
		list = append(list, r.Method+" "+strings.Replace(r.Path, id, "ID", min(1, len(id))))
	}
	return strings.Join(list, ", ")
}

func TestVerifyLeavesNothing(t *testing.T) {
	const all = "POST /pipelines, GET /pipelines/ID/explain, DELETE /pipelines/ID"
	const failed = "POST /pipelines, DELETE /pipelines/ID"
	for _, tc := range []struct {
		name, args string
		fault      func(*velofluxserver.Server)
		code       Code // "" when it is right
		steps      string
	}{
		{"right", `{"sql":"SELECT a FROM user"}`, nil, "", all},
		{"wrong SQL", `{"sql":"SELCT a FROM user"}`, nil, CodePlanner, failed},
		{"unknown column", `{"sql":"SELECT nosuch FROM user"}`, nil, CodePlanner, failed},
		{"a record left by the create", `{"sql":"SELECT a FROM user","sources":[{"stream":"nested"}]}`, nil, CodeManagerHTTP, failed},
		{"a create that is cut off", `{"sql":"SELECT a FROM user"}`, func(s *velofluxserver.Server) {
			s.On(http.MethodPost, "/pipelines", velofluxserver.Fault{Drop: true, Times: 1})
		}, CodeManagerHTTP, failed},
		{"a gateway that gives up", `{"sql":"SELECT a FROM user"}`, func(s *velofluxserver.Server) {
			s.On(http.MethodPost, "/pipelines", velofluxserver.Fault{Status: 502, Body: "bad gateway"})
		}, CodeManagerHTTP, failed},
		{"a Manager that wants credentials", `{"sql":"SELECT a FROM user"}`, func(s *velofluxserver.Server) {
			s.On("", "", velofluxserver.Fault{Status: 401, Body: "who are you?"})
		}, CodeManagerHTTP, failed}, // and no further delete
		{"explain fails", `{"sql":"SELECT a FROM user"}`, func(s *velofluxserver.Server) {
			s.On(http.MethodGet, "/pipelines/{id}/explain", velofluxserver.Fault{Status: 400, Body: "failed to explain pipeline x: no plan"})
		}, CodePlanner, all},
		{"explain is cut off", `{"sql":"SELECT a FROM user"}`, func(s *velofluxserver.Server) {
			s.On(http.MethodGet, "/pipelines/{id}/explain", velofluxserver.Fault{Drop: true})
		}, "", all},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := velofluxserver.Start(t)
			if tc.fault != nil {
				tc.fault(s)
			}
			r := runtimeOf(t, s.URL, Options{})
			if tc.code == "" {
				called(t, r, "pipelines.verify", tc.args)
			} else {
				refusedWith(t, r, tc.code, "pipelines.verify", tc.args)
			}
			asked := func() string { // a request that only reads may be made again
				return strings.ReplaceAll(steps(s), "explain, GET /pipelines/ID/explain", "explain")
			}
			eventually(t, "asked "+tc.steps, func() bool { return strings.HasPrefix(asked(), tc.steps) || len(asked()) > len(tc.steps) })
			if got := asked(); !strings.HasPrefix(got, tc.steps) {
				t.Errorf("asked %s", got)
			}
			gone(t, s)
		})
	}
}

func TestVerifyTellsWhatIsDroppedAndWhereItIsWrong(t *testing.T) {
	r := runtimeOf(t, velofluxserver.Start(t).URL, Options{})
	answer := called(t, r, "pipelines.verify", `{"sql":"SELECT DISTINCT a FROM user\nLIMIT 5"}`)
	if got := gjson.Get(answer, "warnings.#").Int(); got != 2 {
		t.Errorf("%d warnings: %s", got, answer)
	}
	e := refusedWith(t, r, CodePlanner, "pipelines.verify", `{"sql":"SELCT a FROM user"}`)
	if strings.Contains(e.Message+answer, temporaryPrefix) {
		t.Errorf("the temporary id is shown: %+v %s", e, answer)
	}
	if e.Details["line"] != 1 || e.Details["column"] != 1 || !strings.Contains(e.Message, "found: SELCT") {
		t.Errorf("%+v", e)
	}
}

func TestVerifySurvivesACallerThatGoesAway(t *testing.T) {
	s := velofluxserver.Start(t)
	s.On(http.MethodPost, "/pipelines", velofluxserver.Fault{Delay: 50 * time.Millisecond, DelayAfter: 50 * time.Millisecond})
	r := runtimeOf(t, s.URL, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for len(s.Requests()) == 0 { // the create is on its way
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	_, err := r.CallTool(ctx, "pipelines.verify", json.RawMessage(`{"sql":"SELECT a FROM user"}`))
	if !errors.Is(err, context.Canceled) || AsError(err).Code != CodeToolFailed {
		t.Errorf("got %v", err)
	}
	const want = "POST /pipelines, DELETE /pipelines/ID" // the create is not cut off, so one delete is enough
	eventually(t, "it is deleted", func() bool { return strings.HasSuffix(steps(s), "DELETE /pipelines/ID") })
	if got := steps(s); got != want {
		t.Errorf("asked %s", got)
	}
	gone(t, s)
}

// TestVerifyOfASlowManager has the Manager create the pipeline after the request was given up and the first delete.
func TestVerifyOfASlowManager(t *testing.T) {
	t.Parallel()
	s := velofluxserver.Start(t)
	release := s.On(http.MethodPost, "/pipelines", velofluxserver.Fault{Times: 1, Drop: true, Delay: 1200 * time.Millisecond})
	defer release()
	m, err := NewManager(Config{URL: s.URL, Timeout: time.Second / 2})
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewRuntime(m, Options{})
	if err != nil {
		t.Fatal(err)
	}
	r.temporary.lookFor = 5 * time.Second
	refusedWith(t, r, CodeTimeout, "pipelines.verify", `{"sql":"SELECT a FROM user"}`)
	eventually(t, "a delete came after the create", func() bool { return strings.Count(steps(s), "DELETE") >= 2 })
	gone(t, s)
	if err := r.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestVerifyTriesTheDeleteAgain(t *testing.T) {
	s := velofluxserver.Start(t)
	s.On(http.MethodDelete, "/pipelines/{id}", velofluxserver.Fault{Times: 2, Status: 409, Body: "pipeline x is busy processing another command"})
	r := runtimeOf(t, s.URL, Options{})
	answer := called(t, r, "pipelines.verify", `{"sql":"SELECT a FROM user"}`)
	if gjson.Get(answer, `warnings.#(construct=="cleanup").message`).String() == "" {
		t.Errorf("not reported: %s", answer)
	}
	gone(t, s)
}

func TestCloseTriesOnceMore(t *testing.T) {
	s := velofluxserver.Start(t)
	undo := s.On(http.MethodDelete, "/pipelines/{id}", velofluxserver.Fault{Status: 500, Body: "not now"})
	m, err := NewManager(Config{URL: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewRuntime(m, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		called(t, r, "pipelines.verify", `{"sql":"SELECT a FROM user"}`)
	}
	undo()
	if err := r.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if left := s.Pipelines(); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	refusedWith(t, r, CodeToolFailed, "pipelines.verify", `{"sql":"SELECT a FROM user"}`)
}

func TestCloseSaysWhatItLeaves(t *testing.T) {
	s := velofluxserver.Start(t)
	s.On(http.MethodDelete, "/pipelines/{id}", velofluxserver.Fault{Status: 500, Body: "not now"})
	m, err := NewManager(Config{URL: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewRuntime(m, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		called(t, r, "pipelines.verify", `{"sql":"SELECT a FROM user"}`)
	}
	if err := r.Close(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "temporary pipelines that could not be deleted: 2") {
		t.Errorf("got %v", err)
	}
}

func TestVerifyOfAManagerThatIsNotThere(t *testing.T) {
	m, err := NewManager(Config{URL: "http://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	r, err := NewRuntime(m, Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	if e := refusedWith(t, r, CodeManagerHTTP, "pipelines.verify", `{"sql":"SELECT a FROM user"}`); e.Details["retryable"] != true {
		t.Errorf("%+v", e)
	}
	if err := r.Close(t.Context()); err != nil || strings.Contains(log.String(), "left behind") {
		t.Errorf("what was never made is seen to: %v %s", err, log.String())
	}
}

func TestVerifyOfACallerThatIsGoneAlready(t *testing.T) {
	s := velofluxserver.Start(t)
	r := runtimeOf(t, s.URL, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.CallTool(ctx, "pipelines.verify", json.RawMessage(`{"sql":"SELECT a FROM user"}`)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if asked := steps(s); asked != "" {
		t.Errorf("asked %s", asked)
	}
}

func TestSweep(t *testing.T) {
	self := process.Self()
	if self.Started == "0" {
		t.Skip("this system does not tell when a process was started")
	}
	s := velofluxserver.Start(t)
	r := runtimeOf(t, s.URL, Options{})
	dead := self
	dead.Started += "1"
	elsewhere := process.Identity{Machine: "elsewhere-0123456789ab", PID: 1, Started: "1"}
	left := temporaryID{dead, time.Now(), "a"}.String()
	old := temporaryID{elsewhere, time.Now().Add(-time.Hour), "b"}.String()
	live := temporaryID{self, time.Now(), "c"}.String()
	theirs := temporaryID{elsewhere, time.Now(), "d"}.String()
	others := []string{"p1", "__nl2pipeline_tmp__0123456789abcdef", live, theirs}
	for _, id := range append([]string{left, old}, others...) {
		called(t, r, "pipelines.create", `{"id":"`+id+`","sql":"SELECT a FROM user","sinks":[{"type":"nop"}]}`)
	}
	for name, o := range map[string]Options{"read-only": {ReadOnly: true}, "without verify": {ExcludeTools: []string{"pipelines.verify"}}} {
		if swept, err := runtimeOf(t, s.URL, o).Sweep(t.Context()); len(swept) > 0 || err != nil {
			t.Errorf("%s: swept %v, %v", name, swept, err)
		}
	}
	swept, err := r.Sweep(t.Context())
	slices.Sort(swept)
	want := []string{left, old}
	slices.Sort(want)
	if !slices.Equal(swept, want) || err != nil {
		t.Errorf("swept %v, %v", swept, err)
	}
	slices.Sort(others)
	if got := s.Pipelines(); !slices.Equal(got, others) {
		t.Errorf("%v are left", got)
	}
}
