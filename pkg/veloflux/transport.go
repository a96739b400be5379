package veloflux

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
)

const (
	// maxAnswerHeader is the most bytes that the headers of an answer may have.
	maxAnswerHeader = 1 << 20
	// maxPEM is the most bytes that are read of a file for TLS. The certificates of all authorities take a quarter of that.
	maxPEM = 1 << 20
	// maxConnections is how many there are to the Manager at a time. A request that finds none free waits for one, and its
	// time runs meanwhile. None holds one while it waits for another: a redirect is followed when its answer is read.
	maxConnections = 64
)

func newTransport(c Config, used *proxies) (*http.Transport, *fault.Fault) {
	config, f := tlsConfig(c)
	if f != nil {
		return nil, f
	}
	choose := c.Proxy
	if choose == nil {
		choose = http.ProxyFromEnvironment
	}
	return &http.Transport{
		Proxy: func(req *http.Request) (*url.URL, error) {
			u, err := choose(req)
			if err != nil {
				return nil, errProxyAddress // without the address, which may hold a password
			}
			if u != nil {
				used.add(u.User)
			}
			return u, nil
		},
		DialContext:            dialler(2 * c.Timeout),
		OnProxyConnectResponse: proxyAnswered,
		TLSClientConfig:        config,
		ForceAttemptHTTP2:      true,
		MaxConnsPerHost:        maxConnections,
		MaxIdleConns:           maxConnections,
		MaxIdleConnsPerHost:    maxConnections,
		IdleConnTimeout:        30 * time.Second,
		MaxResponseHeaderBytes: maxAnswerHeader,
		ExpectContinueTimeout:  time.Second,
	}, nil
}

// dialler makes connections that fail unless a request gets them in time. The transport goes on with a tunnel or a TLS
// handshake when the request that wanted it has ended, and a peer that says nothing would hold the connection for ever.
func dialler(within time.Duration) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := (&net.Dialer{Timeout: within}).DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		_ = conn.SetDeadline(time.Now().Add(within)) // fails where it is closed already, which the next use of it tells
		return conn, nil
	}
}

var errProxyAddress = errors.New("the address of the proxy, from the environment or the program, is no URL")

// proxyAnswered refuses a proxy's answer that is no success, which would else be an error without its status.
func proxyAnswered(_ context.Context, _ *url.URL, _ *http.Request, resp *http.Response) error {
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	return fmt.Errorf("the proxy answered HTTP %d to the request for a tunnel", resp.StatusCode)
}

// tlsConfig is how the Manager's certificate is checked and which one is shown to it.
func tlsConfig(c Config) (*tls.Config, *fault.Fault) {
	config := &tls.Config{InsecureSkipVerify: c.SkipVerify} //nolint:gosec // the caller says so
	if c.CAFile != "" {
		pem, f := readPEM("CA file", c.CAFile)
		if f != nil {
			return nil, f
		}
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool()
		}
		if !pool.AppendCertsFromPEM(pem) {
			return nil, fault.New(fault.Usage, "The CA file %s holds no certificate in PEM", c.CAFile).
				Suggest("It must have blocks that begin with -----BEGIN CERTIFICATE-----")
		}
		config.RootCAs = pool
	}
	if c.CertFile == "" {
		if c.KeyFile != "" {
			return nil, fault.New(fault.Usage, "A key file is given without the client certificate's file").Suggest("Give the certificate that the key belongs to")
		}
		return config, nil
	}
	pair, f := clientCertificate(c.CertFile, c.KeyFile)
	if f != nil {
		return nil, f
	}
	config.Certificates = []tls.Certificate{pair}
	return config, nil
}

func clientCertificate(certFile, keyFile string) (pair tls.Certificate, f *fault.Fault) {
	cert, f := readPEM("client certificate's file", certFile)
	if f != nil {
		return pair, f
	}
	key := cert
	if keyFile != "" {
		if key, f = readPEM("key file", keyFile); f != nil {
			return pair, f
		}
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return pair, fault.New(fault.Usage, "The client certificate %s cannot be used: %s", certFile, plain(err)).
			Suggest("It needs the certificate, and the key that belongs to it without a password, both in PEM; the key may stand in the same file")
	}
	return pair, nil
}

func readPEM(what, path string) ([]byte, *fault.Fault) {
	if f := checkPath(what, path); f != nil {
		return nil, f
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fault.New(fault.Usage, "The %s %s cannot be read: %v", what, path, fault.Reason(err))
	}
	defer func() { _ = file.Close() }()
	content, err := io.ReadAll(io.LimitReader(file, maxPEM+1))
	switch {
	case err != nil:
		return nil, fault.New(fault.Usage, "The %s %s cannot be read: %v", what, path, fault.Reason(err))
	case len(content) > maxPEM:
		return nil, fault.New(fault.Usage, "The %s %s has more than %d bytes, and is no certificate or key", what, path, maxPEM)
	}
	return content, nil
}

// plain is an error of Go's library without how its parts begin theirs.
func plain(err error) string {
	text := err.Error()
	for _, prefix := range [...]string{"net/http: ", "http: ", "http2: ", "HTTP/1.x transport connection broken: ", "tls: ", "x509: "} {
		text = strings.ReplaceAll(text, prefix, "")
	}
	return text
}
