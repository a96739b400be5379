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
	"syscall"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
)

const (
	// maxResponseHeader is the most bytes of a response's headers.
	maxResponseHeader = 1 << 20
	// maxPEM is the most bytes of a file for TLS. The certificates of all public authorities take a quarter of that.
	maxPEM = 1 << 20
	// maxConnections is the most connections to the Manager. A request waits for a free one, and its timeout includes
	// that. It never holds one while it waits for another, since a redirect is followed after its response was read.
	maxConnections = 64
)

// newTransport returns a transport for the requests to one origin. All of them go through the same proxy, whose credentials,
// which it may repeat in its response, are returned too; proxy is nil if it has none.
func newTransport(c Config, origin *url.URL) (t *http.Transport, proxy *url.Userinfo, f *fault.Fault) {
	config, f := tlsConfig(c)
	if f != nil {
		return nil, nil, f
	}
	choose := c.Proxy
	if choose == nil {
		choose = http.ProxyFromEnvironment
	}
	through, err := choose(&http.Request{Method: http.MethodGet, URL: origin, Host: origin.Host, Header: http.Header{}})
	if err != nil {
		err = errProxyAddress // without the address, which may hold a password
	}
	if through != nil && through.User != nil && *through.User != (url.Userinfo{}) {
		proxy = through.User
	}
	return &http.Transport{
		Proxy:                  func(*http.Request) (*url.URL, error) { return through, err },
		DialContext:            deadlineDialer,
		OnProxyConnectResponse: checkProxyResponse,
		TLSClientConfig:        config,
		ForceAttemptHTTP2:      true,
		MaxConnsPerHost:        maxConnections,
		MaxIdleConns:           maxConnections,
		MaxIdleConnsPerHost:    maxConnections,
		IdleConnTimeout:        30 * time.Second,
		MaxResponseHeaderBytes: maxResponseHeader,
	}, proxy, nil
}

// requestTimeout is the key of a request's timeout in its context, of which the transport keeps the values for a dial, and not the deadline.
type requestTimeout struct{}

// deadlineDialer makes connections that have a deadline until a request gets them. The transport continues a dial, a tunnel or a TLS
// handshake after the request that wanted it has ended, and a silent peer would hold the connection for ever.
func deadlineDialer(ctx context.Context, network, address string) (net.Conn, error) {
	timeout, _ := ctx.Value(requestTimeout{}).(time.Duration)
	within := 2 * timeout
	conn, err := (&net.Dialer{Timeout: within}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	_ = conn.SetDeadline(time.Now().Add(within)) // fails only on a closed connection, which its next use reports
	return &unfinished{Conn: conn}, nil
}

// unfinished is a connection whose peer may answer and close it before it has read the whole request, as the Manager does
// with a body over 2 MiB. The transport would report the broken pipe and lose the answer, so what can no longer be sent
// counts as sent; if there is no answer, the next read fails.
type unfinished struct{ net.Conn }

func (c *unfinished) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, net.ErrClosed) {
		return len(b), nil
	}
	return n, err
}

var errProxyAddress = errors.New("the address of the proxy, from the environment or the program, is not a URL")

// checkProxyResponse returns an error with the status if a proxy refuses a tunnel. Without it the error would not have
// the status.
func checkProxyResponse(_ context.Context, _ *url.URL, _ *http.Request, resp *http.Response) error {
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	return fmt.Errorf("the proxy answered HTTP %d to the request for a tunnel", resp.StatusCode)
}

// tlsConfig returns how the Manager's certificate is verified and which client certificate is sent.
func tlsConfig(c Config) (*tls.Config, *fault.Fault) {
	config := &tls.Config{InsecureSkipVerify: c.SkipVerify} //nolint:gosec // the caller asked for it
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
				Suggest("It must contain blocks that begin with -----BEGIN CERTIFICATE-----")
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
		return pair, fault.New(fault.Usage, "The client certificate %s cannot be used: %s", certFile, withoutPrefixes(err)).
			Suggest("Give the certificate and its key without a password, both in PEM; the key may be in the same file")
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
		return nil, fault.New(fault.Usage, "The %s %s has more than %d bytes and so is not a certificate or key", what, path, maxPEM)
	}
	return content, nil
}

// withoutPrefixes returns the text of an error without the prefixes of Go's packages.
func withoutPrefixes(err error) string {
	text := err.Error()
	for _, prefix := range [...]string{"net/http: ", "http: ", "http2: ", "HTTP/1.x transport connection broken: ", "tls: ", "x509: "} {
		text = strings.ReplaceAll(text, prefix, "")
	}
	return text
}
