package node

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// maxHeader is the most bytes of a response's headers.
const maxHeader = 1 << 20

// route is how requests reach their servers. Requests with the same route share their connections.
type route struct {
	proxies  proxyRules
	insecure bool
	// files is the digest of ca_file, client_cert and client_key.
	files [sha256.Size]byte
	// singleUse gives each request a connection of its own. A kept connection may break while a request is sent, and a
	// request that must not be sent twice would then fail needlessly.
	singleUse bool
}

// transports holds a transport for each open route. Idle connections are closed after a while.
var transports struct {
	sync.Mutex
	open map[route]*http.Transport
}

// maxRoutes is the most routes that stay open: a workflow may use another certificate for every request.
const maxRoutes = 16

// transportFor returns the transport for the requests of a node.
func transportFor(in *nodetype.HTTP, t *Task, c tlsFiles, repeatable bool) (*http.Transport, *fault.Fault) {
	p, f := proxiesFor(in.Proxy, t.Env)
	if f != nil {
		return nil, f
	}
	r := route{proxies: p, insecure: !in.VerifyTLS, singleUse: !repeatable}
	if c.ca != nil || c.cert != nil {
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
		Proxy:                  func(req *http.Request) (*url.URL, error) { return r.proxies.proxyFor(req.URL) },
		OnProxyConnectResponse: checkProxyResponse,
		DialContext:            dial,
		TLSHandshakeTimeout:    time.Minute, // for handshakes that outlive the node
		TLSClientConfig:        config,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true, // the exchange asks for gzip and unpacks it, and so counts the bytes
		DisableKeepAlives:      r.singleUse,
		MaxIdleConns:           64,
		MaxIdleConnsPerHost:    16,
		IdleConnTimeout:        30 * time.Second,
		MaxResponseHeaderBytes: maxHeader,
	}
}

// withoutCertificate continues without the client's certificate: like other credentials, it is not sent to another origin.
func (x *exchange) withoutCertificate() (f *fault.Fault) {
	if x.tls.cert == nil {
		return nil
	}
	x.closeIdle()
	x.tls.cert, x.tls.key = nil, nil
	x.client, f = transportFor(x.in, x.task, x.tls, !x.client.DisableKeepAlives)
	return f
}

// closeIdle closes connections that no other node will use.
func (x *exchange) closeIdle() {
	if x.client.DisableKeepAlives {
		x.client.CloseIdleConnections()
	}
}

// checkProxyResponse returns an error for a proxy's response other than 200; net/http's own error would not include the
// status.
func checkProxyResponse(_ context.Context, _ *url.URL, _ *http.Request, resp *http.Response) error {
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	return &proxyError{resp.StatusCode}
}
