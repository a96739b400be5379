package node

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/pflow-suite/pflow/internal/webserver"
)

func TestHTTPOverTLS(t *testing.T) {
	s := webserver.Start(t)
	for name, c := range map[string]struct{ url, params string }{
		"known authority":     {s.TLSURL, `"ca_file":"` + s.CAFile + `"`},
		"any certificate":     {s.TLSURL, `"verify_tls":false`},
		"even an expired one": {s.ExpiredURL, `"verify_tls":false`},
		"client's":            {s.MutualURL, `"ca_file":"` + s.CAFile + `","client_cert":"` + s.ClientCert + `","client_key":"` + s.ClientKey + `"`},
		"client's in one":     {s.MutualURL, `"verify_tls":false,"client_cert":"` + s.ClientBoth + `"`},
		"posted":              {s.TLSURL, `"method":"POST","ca_file":"` + s.CAFile + `"`},
	} {
		t.Run(name, func(t *testing.T) {
			r := perform(t, task(t), "http", `{"url":"`+c.url+`/text",`+c.params+`}`, nil)
			if output(t, r, "response") != "a line of text\n" || output(t, r, "url") != c.url+"/text" {
				t.Errorf("%s", r.Outputs)
			}
		})
	}
}

// The files are relative to the run's folder and read anew for each attempt.
func TestHTTPReadsItsFilesEachTime(t *testing.T) {
	s := webserver.Start(t)
	on := task(t)
	params := `{"url":"` + s.TLSURL + `/text","ca_file":"ca.pem"}`
	content, err := os.ReadFile(s.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []struct {
		content []byte
		fails   bool
	}{{content, false}, {[]byte("nothing"), true}, {content, false}} {
		if err := os.WriteFile(filepath.Join(on.Dir, "ca.pem"), file.content, 0o600); err != nil {
			t.Fatal(err)
		}
		if r := perform(t, on, "http", params, nil); (r.Fault != nil) != file.fails {
			t.Errorf("%v with %q", r.Fault, file.content)
		}
	}
}

// Ordinary requests share connections; a request that must not be sent twice has one of its own.
func TestHTTPKeepsConnections(t *testing.T) {
	for method, want := range map[string]int{"GET": 1, "POST": 3} {
		count := &connections{}
		url := serveCounted(t, count)
		for range 3 {
			r := perform(t, task(t), "http", `{"url":"`+url+`","method":"`+method+`","body":"x"}`, nil)
			if r.Fault != nil {
				t.Fatal(r.Fault)
			}
		}
		if got := count.n.Load(); got != int64(want) {
			t.Errorf("%s: %d connections, want %d", method, got, want)
		}
	}
}

// Unused routes do not accumulate.
func TestHTTPRoutesAreBounded(t *testing.T) {
	s := webserver.Start(t)
	for i := range 2 * maxRoutes {
		on := task(t)
		on.Env = append(on.Env, "NO_PROXY=host"+string(rune('a'+i)))
		if r := perform(t, on, "http", `{"url":"`+s.URL+`/text"}`, nil); r.Fault != nil {
			t.Fatal(r.Fault)
		}
	}
	transports.Lock()
	defer transports.Unlock()
	if len(transports.open) > maxRoutes {
		t.Errorf("%d routes are open", len(transports.open))
	}
}
