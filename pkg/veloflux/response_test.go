package veloflux

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pflow-suite/pflow/internal/velofluxserver"
)

// TestAnswersThatAreNotTheManagers has successful responses of other servers, which do not have the shape of the Manager's.
func TestAnswersThatAreNotTheManagers(t *testing.T) {
	var answer string
	s := serverOf(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(answer)) })
	m := managerFor(t, Config{URL: s.URL})
	others := []string{
		"<html>\x1b[31mhello", "", "\n <!DOCTYPE HTML><p>log in", `[{"name":`, "[] []", `"text"`, "null", "[\"\xff\"]", "{\"a\":\"\xff\"}", "\ufeff[]", "{}{}",
		`{"hello":"world"}`, "{}", `[{"hello":"world"}]`, "[1]", "[null]", `[{"name":"a","id":"b","processor_id":"c"},{}]`, `[{"name":1,"id":2,"processor_id":3}]`,
		`{"stream":"a","spec":[],"name":1,"constructs":{},"id":"a","status":"b"}`, `{"stream":1,"spec":{},"id":1,"status":"b"}`, `{"id":"a/b","status":1}`, `{"id":"p"}`,
		"ok", "Logical", "A Logical Plan Explain:", "pipeline p", "deleted", "pipeline p deleted ?",
	}
	for _, tc := range everyRequest {
		for _, answer = range append(others, strings.TrimRight(tc.answer, " \n")+"x") {
			if strings.HasSuffix(tc.sees, "/explain") && strings.HasPrefix(answer, "Logical Plan") {
				continue
			}
			_, err := tc.call(t.Context(), m)
			e := failureOf(t, err)
			if response, _ := e.Details["response"].(string); e.Code != CodeManagerHTTP || e.Details["status"] != 200 || !strings.Contains(e.Message, " failed: HTTP 200, ") || !strings.Contains(e.Message, "veloFlux Manager") || strings.Contains(response, "\x1b") {
				t.Errorf("%s %q: %+v", tc.sees, answer, e)
			}
		}
	}
}

func TestACreateMustAnswerWithItsID(t *testing.T) {
	status, answer := http.StatusCreated, ""
	s := serverOf(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(answer))
	})
	m := managerFor(t, Config{URL: s.URL})
	for _, answer = range []string{`{"id":"p2","status":"stopped"}`, `{"id":"p1"}`, `{"status":"stopped"}`} {
		e := failureOf(t, asCreate(t.Context(), m))
		if e.Code != CodeManagerHTTP || e.Details["maybe_created"] != true || !matches(e.Message, "POST /pipelines failed: HTTP 201, …JSON object with the pipeline's id and a status…veloFlux Manager…"+maybeCreatedAdvice[1:]) {
			t.Errorf("%s: %+v", answer, e)
		}
	}
	for status, fits := range map[int]bool{200: true, 201: true, 202: false, 299: false} {
		s := serverOf(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = w.Write([]byte(`{"id":"p1","status":"stopped"}`))
		})
		if err := asCreate(t.Context(), managerFor(t, Config{URL: s.URL})); (err == nil) != fits {
			t.Errorf("HTTP %d: %v", status, err)
		}
	}
}

// TestNothingIsVerifiedByAnotherServer has a server that answers everything with the same JSON.
func TestNothingIsVerifiedByAnotherServer(t *testing.T) {
	s := velofluxserver.Start(t)
	s.On("", "", velofluxserver.Fault{Body: `{"hello":"world"}`, ContentType: "application/json"})
	r, err := NewRuntime(managerFor(t, Config{URL: s.URL}), Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.CallTool(t.Context(), verifyTool, []byte(`{"sql":"SELCT nonsense"}`))
	if e := failureOf(t, err); e.Code != CodeManagerHTTP || e.Details["status"] != 200 || !strings.Contains(e.Message, "veloFlux Manager") {
		t.Errorf("%s %+v", got, e)
	}
	if err := r.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestAVerificationMayBeRepeated has a create whose outcome is unknown: the next verification has another id.
func TestAVerificationMayBeRepeated(t *testing.T) {
	s := velofluxserver.Start(t)
	for _, tc := range []struct {
		fault velofluxserver.Fault
		want  any
	}{
		{velofluxserver.Fault{Times: 1, Status: http.StatusGatewayTimeout, Body: "late"}, true},
		{velofluxserver.Fault{Times: 1, Body: "{}"}, nil},
	} {
		s.On(http.MethodPost, "/pipelines", tc.fault)
		r, err := NewRuntime(managerFor(t, Config{URL: s.URL}), Options{})
		if err != nil {
			t.Fatal(err)
		}
		r.temporary.lookFor = time.Second
		_, err = r.CallTool(t.Context(), verifyTool, []byte(`{"sql":"SELECT a FROM user"}`))
		if e := failureOf(t, err); e.Details["retryable"] != tc.want || e.Details["maybe_created"] != nil {
			t.Errorf("%+v: %+v", tc.fault, e)
		}
		if err := r.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}
