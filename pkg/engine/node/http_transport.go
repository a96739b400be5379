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
func transportFor(in *nodetype.HTTP, t *Task, c credentials, repeatable bool) (*http.Transport, *fault.Fault) {
	p, f := proxiesFor(in.Proxy, t.Env)
	if f != nil {
		return nil, f
	}
	r := route{proxies: p, insecure: !in.VerifyTLS, fresh: !repeatable}
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
		Proxy:                  func(req *http.Request) (*url.URL, error) { return r.proxies.choose(req.URL) },
		OnProxyConnectResponse: proxyAnswered,
		DialContext:            dial,
		TLSHandshakeTimeout:    time.Minute, // of what the node's end does not end
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

// withoutCertificate goes on without the client's certificate: like other credentials, it goes to no other origin.
func (x *exchange) withoutCertificate() (f *fault.Fault) {
	if x.credentials.cert == nil {
		return nil
	}
	x.close()
	x.credentials.cert, x.credentials.key = nil, nil
	x.client, f = transportFor(x.in, x.task, x.credentials, !x.client.DisableKeepAlives)
	return f
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
