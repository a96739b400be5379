package velofluxserver_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pflow-suite/pflow/internal/velofluxserver"
)

const pipelinesRoute, explainRoute = "/pipelines", "/pipelines/{id}/explain"

func TestFaultAnswers(t *testing.T) {
	s := velofluxserver.Start(t)
	s.On("POST", pipelinesRoute, velofluxserver.Fault{Times: 2, Status: 409, Body: "pipeline p is busy processing another command"})
	s.On("POST", pipelinesRoute, velofluxserver.Fault{Times: 1, Status: 502, Body: "<html>", ContentType: "text/html"})
	s.On("POST", pipelinesRoute, velofluxserver.Fault{Times: 1, Delay: time.Nanosecond})
	var got []int
	for range 5 {
		status, _ := ask(t, s, "POST", pipelinesRoute, creation("p", "SELECT a FROM user", nop))
		got = append(got, status)
	}
	if diff := cmp.Diff([]int{409, 409, 502, 201, 409}, got); diff != "" {
		t.Error(diff)
	}
	undo := s.On("", "", velofluxserver.Fault{Body: "{}", ContentType: "application/json"})
	for _, path := range []string{"/nosuch", "/streams", "/pipelines/p"} {
		if status, body := ask(t, s, "GET", path, ""); status != http.StatusOK || body != "{}" {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	undo()
	if status, _ := ask(t, s, "GET", "/nosuch", ""); status != http.StatusNotFound {
		t.Errorf("the fault is still there: %d", status)
	}
	defer func() {
		if recover() == nil {
			t.Error("a fault was added to an unknown route")
		}
	}()
	s.On("GET", "/nosuch", velofluxserver.Fault{})
}

func TestFaultConnections(t *testing.T) {
	s := velofluxserver.Start(t)
	s.On("POST", pipelinesRoute, velofluxserver.Fault{Times: 1, Drop: true})
	response, err := http.Post(s.URL+pipelinesRoute, "application/json", strings.NewReader(creation("p", "SELECT a FROM user", nop)))
	if err == nil {
		_ = response.Body.Close()
		t.Fatal("there is an answer")
	}
	if diff := cmp.Diff([]string{"p"}, s.Pipelines()); diff != "" {
		t.Errorf("nothing was done: %s", diff)
	}
	s.On("GET", explainRoute, velofluxserver.Fault{Times: 1, Cut: 7})
	response, err = http.Get(s.URL + "/pipelines/p/explain")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if string(body) != "Logical" || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%q %v", body, err)
	}
}

// A request whose client goes away is carried out only if nothing but its response was late.
func TestFaultDelays(t *testing.T) {
	for name, c := range map[string]struct {
		fault velofluxserver.Fault
		done  bool
	}{
		"before": {velofluxserver.Fault{Delay: time.Hour}, false},
		"after":  {velofluxserver.Fault{DelayAfter: time.Hour}, true},
		"never":  {velofluxserver.Fault{Hang: true}, false},
		"held":   {velofluxserver.Fault{Until: make(chan struct{})}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := velofluxserver.Start(t)
			s.On("POST", pipelinesRoute, c.fault)
			ctx, cancel := context.WithCancel(t.Context())
			request, _ := http.NewRequestWithContext(ctx, "POST", s.URL+pipelinesRoute, strings.NewReader(creation("p", "SELECT a FROM user", nop)))
			request.Header.Set("Content-Type", "application/json")
			gone := make(chan error)
			go func() {
				response, err := http.DefaultClient.Do(request)
				if err == nil {
					_ = response.Body.Close()
				}
				gone <- err
			}()
			for len(s.Requests()) == 0 || c.done && len(s.Pipelines()) == 0 {
				select {
				case err := <-gone:
					t.Fatalf("it is answered: %v", err)
				case <-time.After(time.Millisecond):
				}
			}
			cancel()
			if err := <-gone; !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			if got := len(s.Pipelines()) == 1; got != c.done {
				t.Errorf("done: %v", got)
			}
		})
	}
}

// asked requests the streams and waits until the server has the request. The channel gets the error of the request.
func asked(t *testing.T, s *velofluxserver.Server) <-chan error {
	t.Helper()
	gone := make(chan error, 1)
	go func() {
		response, err := http.Get(s.URL + "/streams")
		if err == nil {
			_ = response.Body.Close()
		}
		gone <- err
	}()
	for len(s.Requests()) == 0 {
		select {
		case err := <-gone:
			t.Fatalf("it does not hang: %v", err)
		case <-time.After(time.Millisecond):
		}
	}
	return gone
}

func TestCloseEndsWhatHangs(t *testing.T) {
	for _, f := range []velofluxserver.Fault{{Hang: true}, {Until: make(chan struct{})}} {
		s, err := velofluxserver.Listen()
		if err != nil {
			t.Fatal(err)
		}
		s.On("GET", "/streams", f)
		gone := asked(t, s)
		s.Close()
		if err := <-gone; err == nil {
			t.Error("there is an answer")
		}
		s.Close()
	}
}

func TestAHeldRequestIsDoneAtLast(t *testing.T) {
	s := velofluxserver.Start(t)
	release := make(chan struct{})
	s.On("POST", pipelinesRoute, velofluxserver.Fault{Until: release})
	status := make(chan int)
	go func() {
		got, _ := ask(t, s, "POST", pipelinesRoute, creation("p", "SELECT a FROM user", nop))
		status <- got
	}()
	for len(s.Requests()) == 0 {
		select {
		case <-status:
			t.Fatal("it is not held")
		case <-time.After(time.Millisecond):
		}
	}
	if status, body := ask(t, s, "GET", pipelinesRoute, ""); status != http.StatusOK || body != "[]" {
		t.Errorf("while it is held: %d %s", status, body)
	}
	close(release)
	if got := <-status; got != http.StatusCreated || len(s.Pipelines()) != 1 {
		t.Errorf("%d, pipelines %v", got, s.Pipelines())
	}
	if got, _ := ask(t, s, "POST", pipelinesRoute, creation("q", "SELECT a FROM user", nop)); got != http.StatusCreated {
		t.Errorf("afterwards: %d", got)
	}
}

// A handler that another server serves also hangs until it is closed.
func TestCloseEndsAHandler(t *testing.T) {
	s := velofluxserver.New()
	s.On("GET", "/streams", velofluxserver.Fault{Hang: true})
	ended := make(chan any)
	go func() {
		defer func() { ended <- recover() }()
		s.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/streams", http.NoBody))
	}()
	for len(s.Requests()) == 0 {
		select {
		case <-ended:
			t.Fatal("it does not hang")
		case <-time.After(time.Millisecond):
		}
	}
	s.Close()
	if end, ok := (<-ended).(error); !ok || !errors.Is(end, http.ErrAbortHandler) {
		t.Errorf("it ends with %v", end)
	}
}
