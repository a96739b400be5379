package node

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/url"
	"os"
	"sync"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// maxHeader is the most bytes of a response's headers that are read.
const maxHeader = 1 << 20

// route is how requests get to their servers. Those with the same route share their connections.
type route struct {
	proxies  proxies
	insecure bool
	// files is the digest of what is in ca_file, client_cert and client_key.
	files [sha256.Size]byte
	// fresh is a connection of its own for each request. One that was used before may break at the moment of sending, and
	// then a request that must not be sent twice would fail for no reason of its own.
	fresh bool
}

// transports are the routes that are open. Connections without work are closed after a while.
var transports struct {
	sync.Mutex
	open map[route]*http.Transport
}

// maxRoutes is how many routes stay open: some workflow may have another certificate for every request.
const maxRoutes = 16

// transportFor is what sends the requests of a node.
func transportFor(in *nodetype.HTTP, t *Task, repeatable bool) (*http.Transport, *fault.Fault) {
	p, f := proxiesFor(in.Proxy, t.Env)
	if f != nil {
		return nil, f
	}
	r := route{proxies: p, insecure: !in.VerifyTLS, fresh: !repeatable}
	var c credentials
	if in.CAFile+in.ClientCert+in.ClientKey != "" {
		if c, f = readCredentials(in, t); f != nil {
			return nil, f
		}
		r.files = c.digest()
	}
	transports.Lock()
	defer transports.Unlock()
	if open, ok := transports.open[r]; ok {
		return open, nil
	}
	config, f := c.config(in)
	if f != nil {
		return nil, f
	}
	if len(transports.open) >= maxRoutes {
		for _, open := range transports.open {
			open.CloseIdleConnections()
		}
		clear(transports.open)
	}
	if transports.open == nil {
		transports.open = map[route]*http.Transport{}
	}
	made := r.transport(config)
	transports.open[r] = made
	return made, nil
}

func (r *route) transport(config *tls.Config) *http.Transport {
	return &http.Transport{
		Proxy:                  func(req *http.Request) (*url.URL, error) { return r.proxies.choose(req.URL) },
		OnProxyConnectResponse: proxyAnswered,
		TLSClientConfig:        config,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true, // it is asked for and unpacked here, where what came can be counted
		DisableKeepAlives:      r.fresh,
		MaxIdleConns:           64,
		MaxIdleConnsPerHost:    16,
		IdleConnTimeout:        30 * time.Second,
		MaxResponseHeaderBytes: maxHeader,
	}
}

// close lets go of connections that no other node will use.
func (x *exchange) close() {
	if x.client.DisableKeepAlives {
		x.client.CloseIdleConnections()
	}
}

// proxyAnswered refuses a proxy's answer that is no success, which would else be an error without its status.
func proxyAnswered(_ context.Context, _ *url.URL, _ *http.Request, resp *http.Response) error {
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	return &proxyError{resp.StatusCode}
}

// credentials are the files that a node names for TLS.
type credentials struct{ ca, cert, key []byte }

func readCredentials(in *nodetype.HTTP, t *Task) (c credentials, f *fault.Fault) {
	if in.ClientKey != "" && in.ClientCert == "" {
		return c, fault.New(fault.Execution, "client_key is given without client_cert").Suggest("Give the certificate that the key belongs to as client_cert")
	}
	for _, file := range []struct {
		name string
		into *[]byte
	}{{in.CAFile, &c.ca}, {in.ClientCert, &c.cert}, {in.ClientKey, &c.key}} {
		if file.name == "" {
			continue
		}
		path := under(t, file.name)
		content, err := os.ReadFile(path)
		if err != nil {
			return c, fileFault("read", file.name, path, err)
		}
		*file.into = content
	}
	if in.ClientKey == "" {
		c.key = c.cert
	}
	return c, nil
}

func (c *credentials) digest() [sha256.Size]byte {
	h := sha256.New()
	for _, content := range [][]byte{c.ca, c.cert, c.key} {
		sum := sha256.Sum256(content)
		h.Write(sum[:])
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// config is TLS as the node wants it, nil for what is usual.
func (c *credentials) config(in *nodetype.HTTP) (*tls.Config, *fault.Fault) {
	config := &tls.Config{InsecureSkipVerify: !in.VerifyTLS} //nolint:gosec // the workflow says so
	if c.ca != nil {
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool()
		}
		if !pool.AppendCertsFromPEM(c.ca) {
			return nil, fault.New(fault.Execution, "ca_file %s holds no certificate in PEM", in.CAFile).
				Suggest("It must have blocks that begin with -----BEGIN CERTIFICATE-----")
		}
		config.RootCAs = pool
	}
	if c.cert != nil {
		pair, err := tls.X509KeyPair(c.cert, c.key)
		if err != nil {
			return nil, fault.New(fault.Execution, "client_cert %s cannot be used: %v", in.ClientCert, err).
				Suggest("client_cert must have the certificate and client_key its key without a password, both in PEM")
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}
