package veloflux

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// issued is a certificate and its key, as files.
type issued struct {
	cert, key, both string
	pair            tls.Certificate
	parsed          *x509.Certificate
	private         *ecdsa.PrivateKey
}

// issue makes a certificate signed by the authority by, or a self-signed authority if by is nil.
func issue(t *testing.T, name string, by *issued, until time.Time) *issued {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(int64(len(name))), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: until,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, BasicConstraintsValid: true, IsCA: by == nil, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	parent, signer := template, private
	if by != nil {
		parent, signer = by.parsed, by.private
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &private.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	cert := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	key := string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}))
	dir := t.TempDir()
	made := &issued{cert: filepath.Join(dir, "cert.pem"), key: filepath.Join(dir, "key.pem"), both: filepath.Join(dir, "both.pem"), private: private}
	putText(t, made.cert, cert)
	putText(t, made.key, key)
	putText(t, made.both, cert+key)
	if made.pair, err = tls.X509KeyPair([]byte(cert), []byte(key)); err != nil {
		t.Fatal(err)
	}
	if made.parsed, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	return made
}

func secureServer(t *testing.T, own *issued, clients *issued) string {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "[]") }))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.TLS = &tls.Config{Certificates: []tls.Certificate{own.pair}}
	if clients != nil {
		s.TLS.ClientAuth = tls.RequireAndVerifyClientCert
		s.TLS.ClientCAs = x509.NewCertPool()
		s.TLS.ClientCAs.AddCert(clients.parsed)
	}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s.URL
}

func TestTLS(t *testing.T) {
	later := time.Now().Add(time.Hour)
	ca, otherCA := issue(t, "ca", nil, later), issue(t, "other", nil, later)
	own, client, stranger := issue(t, "server", ca, later), issue(t, "client", ca, later), issue(t, "stranger", otherCA, later)
	expired := issue(t, "expired", ca, time.Now().Add(-time.Minute))
	url, closed, late := secureServer(t, own, nil), secureServer(t, own, ca), secureServer(t, expired, nil)
	plainURL := serverOf(t, func(http.ResponseWriter, *http.Request) {}).URL
	byName := strings.Replace(url, "127.0.0.1", "localhost", 1)
	for _, tc := range []struct {
		name string
		c    Config
		says string // empty when it works
	}{
		{"a CA file", Config{URL: url, CAFile: ca.cert}, ""},
		{"no CA file", Config{URL: url}, "signed by an authority that is not trusted here. Give that authority's certificate (PEM) as the CA file"},
		{"another CA", Config{URL: url, CAFile: otherCA.cert}, "Give that authority's certificate"},
		{"another host", Config{URL: byName, CAFile: ca.cert}, "its certificate is for another host"},
		{"expired", Config{URL: late, CAFile: ca.cert}, "its certificate is not valid: certificate has expired"},
		{"no check", Config{URL: url, SkipVerify: true}, ""},
		{"no check of a late one", Config{URL: late, SkipVerify: true}, ""},
		{"a client certificate", Config{URL: closed, CAFile: ca.cert, CertFile: client.cert, KeyFile: client.key}, ""},
		{"a client certificate in one file", Config{URL: closed, CAFile: ca.cert, CertFile: client.both}, ""},
		{"no client certificate", Config{URL: closed, CAFile: ca.cert}, "it does not accept the client's certificate (certificate required). Give a client certificate"},
		{"a stranger's certificate", Config{URL: closed, CAFile: ca.cert, CertFile: stranger.both}, "it does not accept the client's certificate"},
		{"https to http", Config{URL: strings.Replace(plainURL, "http:", "https:", 1)}, "it does not speak TLS. Should the URL begin with http://?"},
		{"http to https", Config{URL: strings.Replace(url, "https:", "http:", 1)}, "Should the Manager's URL begin with https://?"},
	} {
		m := managerFor(t, tc.c)
		_, err := m.Streams(t.Context())
		if m.sendsCredentials() != (tc.c.CertFile != "") {
			t.Errorf("%s: credentialed %v", tc.name, m.sendsCredentials())
		}
		if tc.says == "" {
			if err != nil {
				t.Errorf("%s: %v", tc.name, err)
			}
			continue
		}
		if e := failureOf(t, err); e.Code != CodeManagerHTTP || !strings.Contains(e.Message, tc.says) || e.Details["retryable"] != nil || strings.Contains(e.Message, "x509") {
			t.Errorf("%s: %+v", tc.name, e)
		}
		if e := failureOf(t, asCreate(t.Context(), m)); e.Details["maybe_created"] != nil {
			t.Errorf("%s: a create: %+v", tc.name, e)
		}
	}
}

func TestFilesForTLSThatAreNone(t *testing.T) {
	a, b := issue(t, "a", nil, time.Now().Add(time.Hour)), issue(t, "b", nil, time.Now().Add(time.Hour))
	dir := t.TempDir()
	text, long := filepath.Join(dir, "text"), filepath.Join(dir, "long")
	putText(t, text, "s3cret")
	putText(t, long, strings.Repeat("x", maxPEM+1))
	for _, tc := range []struct {
		c    Config
		says string
	}{
		{Config{CAFile: filepath.Join(dir, "none")}, "The CA file " + filepath.Join(dir, "none") + " cannot be read: no such file"},
		{Config{CAFile: dir}, "The CA file " + dir + " cannot be read: is a directory"},
		{Config{CAFile: text}, "holds no certificate in PEM"},
		{Config{CAFile: a.key}, "holds no certificate in PEM"},
		{Config{CAFile: long}, "The CA file " + long + " has more than 1048576 bytes"},
		{Config{KeyFile: a.key}, "A key file is given without"},
		{Config{CertFile: a.cert}, "The client certificate " + a.cert + " cannot be used"},
		{Config{CertFile: a.cert, KeyFile: b.key}, "cannot be used"},
		{Config{CertFile: a.cert, KeyFile: filepath.Join(dir, "none")}, "The key file " + filepath.Join(dir, "none") + " cannot be read"},
		{Config{CertFile: text, KeyFile: text}, "cannot be used"},
		{Config{CertFile: a.cert, KeyFile: "-----BEGIN PRIVATE KEY-----\ns3cret\n"}, "key file is not a path"},
		{Config{CertFile: "-----BEGIN PRIVATE KEY-----s3cret"}, "client certificate's file is not a path"},
		{Config{CAFile: "s3cret\ns3cret"}, "CA file is not a path"},
	} {
		tc.c.URL = "https://h"
		_, err := NewManager(tc.c)
		checkUsage(t, err, tc.says)
	}
}

func TestProxy(t *testing.T) {
	var sees, credential string
	p := serverOf(t, func(w http.ResponseWriter, r *http.Request) {
		sees, credential = r.Method+" "+r.RequestURI, r.Header.Get("Proxy-Authorization")
		if r.Method == http.MethodConnect {
			w.WriteHeader(http.StatusProxyAuthRequired)
			return
		}
		_, _ = io.WriteString(w, `{"id":"a/b","status":"stopped"}`)
	})
	proxy, _ := url.Parse(strings.Replace(p.URL, "://", "://ann:s3cret@", 1))
	through := func(*http.Request) (*url.URL, error) { return proxy, nil }
	m := managerFor(t, Config{URL: "http://manager.invalid/base", Proxy: through})
	if _, err := m.Pipeline(t.Context(), "a/b"); err != nil || sees != "GET http://manager.invalid/base/pipelines/a%2Fb" || credential != basic("ann:s3cret") {
		t.Errorf("the proxy saw %s %s, %v", sees, credential, err)
	}
	err := asStreams(t.Context(), managerFor(t, Config{URL: "https://manager.invalid", Proxy: through}))
	if e := failureOf(t, err); e.Code != CodeManagerHTTP || sees != "CONNECT manager.invalid:443" || !strings.Contains(e.Message, "the proxy answered HTTP 407") {
		t.Errorf("tunnel: the proxy saw %s: %+v", sees, e)
	}
	err = asStreams(t.Context(), managerFor(t, Config{URL: "http://h", Proxy: func(*http.Request) (*url.URL, error) { return nil, errors.New("ann:s3cret@") }}))
	if e := failureOf(t, err); e.Code != CodeManagerHTTP || !strings.Contains(e.Message, "the address of the proxy") || strings.Contains(e.Message, "s3cret") {
		t.Errorf("a proxy without an address: %+v", e)
	}
	p.Close()
	m.Close()
	err = asCreate(t.Context(), m)
	if e := failureOf(t, err); e.Code != CodeManagerHTTP || !strings.HasSuffix(e.Message, "the proxy refuses the connection") || e.Details["retryable"] != true || strings.Contains(e.Message, "s3cret") {
		t.Errorf("no proxy: %+v", e)
	}
}

// TestNoProxyShowsItsSecret has a proxy that answers instead of the Manager, with the credentials that it received.
func TestNoProxyShowsItsSecret(t *testing.T) {
	p := serverOf(t, func(w http.ResponseWriter, r *http.Request) {
		given := r.Header.Get("Proxy-Authorization")
		plain, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(given, "Basic "))
		http.Error(w, given+" "+string(plain), http.StatusTeapot)
	})
	for user, secrets := range map[string][]string{
		"ann:s3cret-word": {basic("ann:s3cret-word"), basic("ann:s3cret-word")[6:], "s3cret-word", "ann:s3cret-word"},
		"ann:pw":          {basic("ann:pw"), "ann:pw", "pw"},
		"token-word":      {basic("token-word:"), "token-word"},
	} {
		proxy, _ := url.Parse(strings.Replace(p.URL, "://", "://"+user+"@", 1))
		m := managerFor(t, Config{URL: "http://manager.invalid", Proxy: func(*http.Request) (*url.URL, error) { return proxy, nil }})
		e := failureOf(t, asStreams(t.Context(), m))
		known := m.secrets()
		for _, secret := range secrets {
			response, _ := e.Details["response"].(string)
			if strings.Contains(e.Message, secret) || strings.Contains(response, secret) || response == "" || !slices.Contains(known, secret) {
				t.Errorf("%s: %q is in %+v or not in %q", user, secret, e, known)
			}
		}
		if !m.sendsCredentials() {
			t.Errorf("%s: who has credentials for a proxy is not told apart", user)
		}
	}
}
