package llm

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/pflow-suite/pflow/internal/llmserver"
	"github.com/pflow-suite/pflow/pkg/fault"
)

// raw starts a server with one handler for all requests.
func raw(t *testing.T, answer http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)
	return s.URL
}

func TestHostileServers(t *testing.T) {
	t.Parallel()
	elsewhere := make(chan http.Header, 9)
	other := raw(t, func(_ http.ResponseWriter, r *http.Request) { elsewhere <- r.Header })
	for name, c := range map[string]struct {
		answer  http.HandlerFunc
		kind    fault.Type
		message string
	}{
		"a page": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte("<html>hello</html>"))
		}, fault.Protocol, "is not a completion"},
		"no JSON": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"choices":[`))
		}, fault.Protocol, "is not a completion"},
		"another object": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"ok":true}`))
		}, fault.Protocol, "is not a completion"},
		"an error that is a page": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte("<html>nginx</html>"))
		}, fault.Execution, "API at this URL (HTTP 404)"},
		"an error that is a text": {func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "no\nluck", http.StatusTeapot)
		}, fault.Execution, "(HTTP 418): no luck"},
		"an error of another form": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusUnprocessableEntity)
			_, _ = w.Write([]byte(`{"detail":[{"msg":"Field required"}]}`))
		}, fault.Execution, "(HTTP 422): Field required"},
		"a redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other+"/take?it=all", http.StatusTemporaryRedirect)
		}, fault.Execution, "redirects (HTTP 307)"},
		"an endless answer": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			block := make([]byte, 1<<20)
			for range 2 * maxAnswer / len(block) { // without a limit, it would be an answer that is not JSON
				if _, err := w.Write(block); err != nil {
					return
				}
			}
		}, fault.TooLarge, "has more than 64 MiB"},
		"another protocol": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Connection", "Upgrade")
			w.Header().Set("Upgrade", "other")
			w.WriteHeader(http.StatusSwitchingProtocols)
		}, fault.Protocol, "switches to another protocol"},
		"a connection that ends": {func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				_ = conn.Close()
			}
		}, fault.Unavailable, "Cannot reach"},
	} {
		for _, provider := range providers {
			t.Run(name+" "+provider, func(t *testing.T) {
				t.Parallel()
				var a Asker
				p := params(raw(t, c.answer), provider, "hello")
				p.Retries = 0
				_, err := a.Ask(t.Context(), p)
				if f := mustFail(t, err); f.Type != c.kind || !strings.Contains(f.Message, c.message) {
					t.Errorf("got %+v", f)
				}
			})
		}
	}
	t.Cleanup(func() {
		if len(elsewhere) > 0 {
			t.Errorf("a redirect was followed, with %v", <-elsewhere)
		}
	})
}

func TestNobodyListens(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_ = l.Close()
	for _, provider := range providers {
		p := params("http://user:hush-hush@"+address, provider, "hello")
		p.Retries = 0
		var a Asker
		_, err := a.Ask(t.Context(), p)
		f := mustFail(t, err)
		if f.Type != fault.Unavailable || !f.Retryable || !strings.Contains(f.Message, "connection refused") || strings.Contains(f.Message+f.Suggestions[0], "hush-hush") {
			t.Errorf("%s: got %+v", provider, f)
		}
	}
}

func TestTimeAndCancellation(t *testing.T) {
	each(t, func(t *testing.T, provider string, s *llmserver.Server) {
		p := params(s.URL, provider, "[[slow 1h]]")
		p.Timeout = 0.05
		var a Asker
		_, err := a.Ask(t.Context(), p)
		if f := mustFail(t, err); f.Type != fault.Timeout || !f.Retryable || !strings.Contains(f.Message, "within 0.05 seconds") {
			t.Errorf("timeout: %+v", f)
		}
		why := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		s = llmserver.Start(t)
		p.BaseURL = s.URL + "/v1"
		s.Reply = func(*llmserver.Request) llmserver.Answer {
			cancel(why)
			return llmserver.Answer{Delay: time.Hour}
		}
		p.Timeout = ample
		if _, err := a.Ask(ctx, p); !errors.Is(err, why) {
			t.Errorf("cancelled: %v", err)
		}
	})
}
