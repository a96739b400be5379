// Package webserver is an HTTP server for tests, with pages that behave, pages that misbehave, good and bad TLS certificates,
// and proxies. It listens on the loopback interface only.
package webserver

import (
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
)

// Host is a name of the server that only its proxies know: http://webserver.test and https://webserver.test.
const Host = "webserver.test"

// Server is a running server. No URL ends in a slash.
type Server struct {
	// URL is for plain HTTP. OtherURL has the same pages at another address, like another host.
	URL, OtherURL string
	// TLSURL has a certificate of the authority in CAFile, for 127.0.0.1, localhost and Host. It also speaks HTTP/2.
	TLSURL string
	// MutualURL is like TLSURL, but requires a certificate of the client, such as the one in ClientCert with its key in
	// ClientKey; ClientBoth has both in one file. It speaks TLS 1.2, with which it refuses a client during the handshake, so
	// that the client always sees the reason.
	MutualURL string
	// ExpiredURL, SelfSignedURL and WrongHostURL have certificates that a client must not trust. The authority in CAFile signed
	// the first and the last.
	ExpiredURL, SelfSignedURL, WrongHostURL string
	// CAFile, ClientCert, ClientKey and ClientBoth are paths of PEM files.
	CAFile, ClientCert, ClientKey, ClientBoth string
	// ProxyURL is an HTTP proxy. AuthProxyURL is one that requires the user and the password in the URL.
	ProxyURL, AuthProxyURL string

	mu       sync.Mutex
	requests []Request
	proxied  int
	counts   map[string]int
	done     chan struct{}
	servers  []*http.Server
	serving  sync.WaitGroup
}

// Request is a request that the server received.
type Request struct {
	// Host, Method and Path are as the client sent them. Path includes the query.
	Host, Method, Path string
	Header             http.Header
	// Other is true if it came to OtherURL.
	Other bool
}

// Start starts a server that ends with the test.
func Start(t testing.TB) *Server {
	t.Helper()
	s, err := New(t.TempDir())
	if err != nil {
		t.Fatalf("the web server does not start: %v", err)
	}
	t.Cleanup(s.Close)
	return s
}

// New starts a server that writes its certificates to dir. The caller must close it.
func New(dir string) (*Server, error) {
	s := &Server{counts: map[string]int{}, done: make(chan struct{})}
	if err := s.start(dir); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (s *Server) start(dir string) error {
	ca, err := newAuthority()
	if err != nil {
		return err
	}
	if err := s.files(dir, ca); err != nil {
		return err
	}
	good, err1 := ca.issue(certificate{hosts: []string{"localhost", Host, "other.test"}, loopback: true})
	expired, err2 := ca.issue(certificate{loopback: true, expired: true})
	wrong, err3 := ca.issue(certificate{hosts: []string{"elsewhere.test"}})
	itself, err4 := selfSigned()
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return err
	}
	pages := s.pages()
	for _, each := range []struct {
		url     *string
		config  *tls.Config
		handler http.Handler
	}{
		{&s.URL, nil, s.recording(pages, false)},
		{&s.OtherURL, nil, s.recording(pages, true)},
		{&s.TLSURL, &tls.Config{Certificates: []tls.Certificate{good}}, s.recording(pages, false)},
		{&s.MutualURL, &tls.Config{Certificates: []tls.Certificate{good}, ClientCAs: ca.pool(), ClientAuth: tls.RequireAndVerifyClientCert, MaxVersion: tls.VersionTLS12}, s.recording(pages, false)},
		{&s.ExpiredURL, &tls.Config{Certificates: []tls.Certificate{expired}}, s.recording(pages, false)},
		{&s.SelfSignedURL, &tls.Config{Certificates: []tls.Certificate{itself}}, s.recording(pages, false)},
		{&s.WrongHostURL, &tls.Config{Certificates: []tls.Certificate{wrong}}, s.recording(pages, false)},
		{&s.ProxyURL, nil, &proxy{server: s}},
		{&s.AuthProxyURL, nil, &proxy{server: s, user: "user", password: "pr0xy-passw0rd"}},
	} {
		if *each.url, err = s.serve(each.handler, each.config); err != nil {
			return err
		}
	}
	s.AuthProxyURL = "http://user:pr0xy-passw0rd@" + s.AuthProxyURL[len("http://"):]
	return nil
}

// serve serves pages at a new address.
func (s *Server) serve(pages http.Handler, config *tls.Config) (url string, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	server := &http.Server{Handler: pages, TLSConfig: config, ErrorLog: log.New(io.Discard, "", 0)} //nolint:gosec // it must accept slow clients
	s.servers = append(s.servers, server)
	if config == nil {
		s.serving.Go(func() { _ = server.Serve(l) })
		return "http://" + l.Addr().String(), nil
	}
	s.serving.Go(func() { _ = server.ServeTLS(l, "", "") })
	return "https://" + l.Addr().String(), nil
}

// Close closes all connections and waits until all servers have stopped.
func (s *Server) Close() {
	close(s.done)
	for _, server := range s.servers {
		_ = server.Close()
	}
	s.serving.Wait()
}

// Requests returns all requests for pages so far. Requests to the proxies are not among them.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Proxied returns the number of requests and connections to the proxies.
func (s *Server) Proxied() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.proxied
}

// recording records requests before it passes them on.
func (s *Server) recording(next http.Handler, other bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.requests = append(s.requests, Request{Host: r.Host, Method: r.Method, Path: r.URL.RequestURI(), Header: r.Header.Clone(), Other: other})
		s.mu.Unlock()
		next.ServeHTTP(w, r)
	})
}

// count returns how often it was called with a name.
func (s *Server) count(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts[name]++
	return s.counts[name]
}

// files writes the files that clients need.
func (s *Server) files(dir string, ca *authority) error {
	client, err := ca.issue(certificate{client: true})
	if err != nil {
		return err
	}
	cert, key, err := encoded(client)
	if err != nil {
		return err
	}
	for _, file := range []struct {
		path    *string
		name    string
		content []byte
	}{
		{&s.CAFile, "ca.pem", ca.encoded()},
		{&s.ClientCert, "client.pem", cert},
		{&s.ClientKey, "client-key.pem", key},
		{&s.ClientBoth, "client-both.pem", slices.Concat(cert, key)},
	} {
		*file.path = filepath.Join(dir, file.name)
		if err := os.WriteFile(*file.path, file.content, 0o600); err != nil {
			return err
		}
	}
	return nil
}
