package node

import (
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/pflow-suite/pflow/internal/webserver"
	"github.com/pflow-suite/pflow/pkg/fault"
)

// A client certificate is a credential: it is not sent to another origin, nor again after a redirect back.
func TestHTTPCertificateFollowsToNoOtherHost(t *testing.T) {
	s := webserver.Start(t)
	var shown atomic.Int64
	other := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		shown.Add(int64(len(r.TLS.PeerCertificates)))
		if to := r.URL.Query().Get("to"); to != "" {
			http.Redirect(w, r, to, http.StatusFound)
		}
	}))
	other.TLS = &tls.Config{ClientAuth: tls.RequestClientCert} //nolint:gosec // of a test
	other.StartTLS()
	t.Cleanup(other.Close)
	certificate := `"verify_tls":false,"client_cert":"` + s.ClientBoth + `"`
	for _, method := range []string{"GET", "POST"} {
		r := perform(t, task(t), "http", `{"url":"`+s.MutualURL+`/redirect?code=307&to=`+url.QueryEscape(other.URL)+`","method":"`+method+`",`+certificate+`}`, nil)
		if output(t, r, "status_code") != "200" || shown.Load() != 0 {
			t.Errorf("%s: %d certificates went to another host: %s", method, shown.Load(), r.Outputs)
		}
	}
	back := other.URL + "/?to=" + url.QueryEscape(s.MutualURL+"/text")
	r := perform(t, task(t), "http", `{"url":"`+s.MutualURL+`/redirect?to=`+url.QueryEscape(back)+`",`+certificate+`}`, nil)
	if r.Fault == nil || shown.Load() != 0 { // in what words depends on which end is the first to close
		t.Errorf("the certificate came back: %s", r.Outputs)
	}
	r = perform(t, task(t), "http", `{"url":"`+s.MutualURL+`/redirect?to=/text",`+certificate+`}`, nil)
	if output(t, r, "response") != "a line of text\n" {
		t.Errorf("%s", r.Outputs)
	}
	if r := perform(t, task(t), "http", `{"url":"`+other.URL+`",`+certificate+`}`, nil); r.Fault != nil || shown.Load() != 1 {
		t.Errorf("%v, %d certificates at the origin itself", r.Fault, shown.Load())
	}
}

// Content-Length after HEAD is that of a body that is not sent.
func TestHTTPHeadOfALongBody(t *testing.T) {
	s := webserver.Start(t)
	for _, params := range []string{``, `,"output_file":"f"`} {
		r := perform(t, task(t), "http", `{"url":"`+s.URL+`/bytes/100000","method":"HEAD","max_size":1000`+params+`}`, nil)
		if output(t, r, "response_headers.content-length") != "100000" || output(t, r, "size") != "0" {
			t.Errorf("%s", r.Outputs)
		}
	}
}

// A connection to a server that accepts but does not answer the TLS handshake is closed when the time is up.
func TestHTTPLeavesNoConnectionThatIsNotReady(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	ended := make(chan error, 2)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			buf := make([]byte, 64<<10)
			for err == nil {
				_, err = conn.Read(buf)
			}
			_ = conn.Close()
			ended <- err
		}
	}()
	for _, method := range []string{"GET", "POST"} {
		r := perform(t, task(t), "http", `{"url":"https://`+l.Addr().String()+`","method":"`+method+`","timeout":1}`, nil)
		failedWith(t, r, fault.Timeout, "1 second")
		<-ended // otherwise the test's own time limit ends it
	}
}

// A pipe is not waited for, and a long file is not read as a whole.
func TestHTTPReadsOfItsFilesNoMoreThanItMust(t *testing.T) {
	s := webserver.Start(t)
	on := task(t)
	if err := syscall.Mkfifo(filepath.Join(on.Dir, "pipe"), 0o600); err != nil {
		t.Skip(err)
	}
	put(t, filepath.Join(on.Dir, "long"), "")
	if err := os.Truncate(filepath.Join(on.Dir, "long"), maxPEM+1); err != nil {
		t.Fatal(err)
	}
	for _, param := range []string{"ca_file", "client_cert"} {
		r := perform(t, on, "http", `{"url":"`+s.TLSURL+`","timeout":0.2,"`+param+`":"pipe"}`, nil)
		failedWith(t, r, fault.Timeout, "0.2 seconds")
		for _, file := range []string{"long", "/dev/zero"} {
			r = perform(t, on, "http", `{"url":"`+s.TLSURL+`","`+param+`":"`+file+`"}`, nil)
			failedWith(t, r, fault.Execution, file+": ", "1048576 bytes")
		}
	}
}
