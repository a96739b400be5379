package mcphttp_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/pflow-suite/pflow/pkg/mcp/mcphttp"
)

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

// TestGuard holds which hosts and origins are the server's own.
func TestGuard(t *testing.T) {
	public, _ := url.Parse("https://flows.example.com")
	local, site, all := &mcphttp.Guard{Host: "127.0.0.1"}, &mcphttp.Guard{Host: "127.0.0.1", Public: public}, &mcphttp.Guard{Host: "", Public: public}
	for _, tc := range []struct {
		guard        *mcphttp.Guard
		host, origin string
		ok           bool
	}{
		{local, "127.0.0.1:3000", "", true},
		{local, "localhost:8080", "", true},
		{local, "LOCALHOST", "", true},
		{local, "[::1]:3000", "", true},
		{local, "[::ffff:127.0.0.1]:3000", "", true},
		{local, "evil.example", "", false},
		{local, "localhost.evil.example:3000", "", false},
		{local, "127.0.0.1.evil.example", "", false},
		{local, "127.0.0.1@evil.example", "", false},
		{local, "192.0.2.1:3000", "", false},
		{local, "", "", false},
		{local, "localhost:3000", "http://localhost:3000", true},
		{local, "localhost:3000", "http://localhost:3001", false},
		{local, "localhost:3000", "https://localhost:3000", false},
		{local, "localhost:3000", "http://evil.example", false},
		{local, "localhost:3000", "null", false},
		{local, "localhost:3000", "", true},
		{local, "localhost:3000", "file://", false},
		{local, "localhost:3000", "http://localhost:3000/a", false},
		{local, "flows.example.com", "", false},
		{site, "flows.example.com", "", true},
		{site, "flows.example.com:443", "https://flows.example.com", true},
		{site, "127.0.0.1:3000", "https://flows.example.com", true},
		{site, "flows.example.com", "https://flows.example.com.evil.example", false},
		{site, "flows.example.com", "http://evil.example", false},
		{all, "192.0.2.1:3000", "", true},
		{all, "[2001:db8::1]:3000", "http://[2001:db8::1]:3000", true},
		{all, "evil.example", "", false},
	} {
		passed := false
		handler := tc.guard.Handler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { passed = true }))
		request := httptest.NewRequest(http.MethodPost, "/", nil)
		request.Host = tc.host
		if tc.origin != "" {
			request.Header.Set("Origin", tc.origin)
		}
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, request)
		if passed != tc.ok || !passed && recorder.Code != http.StatusForbidden {
			t.Errorf("Host %q, Origin %q: passed %v, %d", tc.host, tc.origin, passed, recorder.Code)
		}
	}
	request := httptest.NewRequest(http.MethodPost, "http://localhost/", nil)
	request.Header["Origin"] = []string{"http://localhost", "http://evil.example"}
	recorder := httptest.NewRecorder()
	local.Handler(http.NotFoundHandler()).ServeHTTP(recorder, request)
	if recorder.Code != http.StatusForbidden {
		t.Errorf("two origins: %d", recorder.Code)
	}
}
