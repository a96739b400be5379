package main

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"veloflux-mcp": main})
}

// TestScripts runs the program against a small Manager: $MANAGER has two streams, $MANAGER/empty-handed answers nothing
// but 404, $MANAGER/full answers 400, and $MANAGER/slow never answers.
func TestScripts(t *testing.T) {
	routes := http.NewServeMux()
	routes.HandleFunc("GET /streams", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`[{"name":"clicks","schema":{"columns":[]}},{"name":"<raw>","n":9007199254740993}]`))
	})
	routes.HandleFunc("GET /full/streams", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte("a < b & c"))
	})
	routes.HandleFunc("GET /empty-handed/", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) })
	routes.HandleFunc("GET /slow/streams", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	manager := httptest.NewServer(routes)
	t.Cleanup(manager.Close)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("MANAGER", manager.URL)
			env.Setenv("VELOFLUX_MANAGER_URL", manager.URL)
			env.Setenv("GORACE", "atexit_sleep_ms=0")
			return nil
		},
	})
}
