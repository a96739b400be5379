package webserver

import (
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
)

// proxy is an HTTP proxy. It takes hosts whose names end in .test for the server itself, with any port.
type proxy struct {
	server         *Server
	user, password string
}

// ServeHTTP forwards a request, or opens a tunnel for CONNECT.
func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.server.mu.Lock()
	p.server.proxied++
	p.server.mu.Unlock()
	as := &http.Request{Header: http.Header{"Authorization": r.Header["Proxy-Authorization"]}}
	user, password, _ := as.BasicAuth()
	switch {
	case p.user != "" && (user != p.user || password != p.password):
		w.Header().Set("Proxy-Authenticate", "Basic")
		w.WriteHeader(http.StatusProxyAuthRequired)
	case r.Method == http.MethodConnect:
		p.connect(w, r)
	case r.URL.Host == "":
		http.Error(w, "this is a proxy", http.StatusBadRequest)
	default:
		p.pass(w, r)
	}
}

func (p *proxy) pass(w http.ResponseWriter, r *http.Request) {
	to := r.URL.Host
	if strings.HasSuffix(r.URL.Hostname(), ".test") {
		to = address(p.server.URL)
	}
	reverse := &httputil.ReverseProxy{
		Rewrite: func(pr *httputil.ProxyRequest) {
			pr.SetURL(&url.URL{Scheme: "http", Host: to})
			pr.Out.Host = pr.In.Host
			pr.Out.Header.Set("Via", "1.1 test-proxy")
		},
		ModifyResponse: func(resp *http.Response) error { resp.Header.Set("Via", "1.1 test-proxy"); return nil },
	}
	reverse.ServeHTTP(w, r)
}

func (p *proxy) connect(w http.ResponseWriter, r *http.Request) {
	to := r.Host
	if name, _, err := net.SplitHostPort(to); err == nil && strings.HasSuffix(name, ".test") {
		to = address(p.server.TLSURL)
	}
	server, err := net.Dial("tcp", to)
	if err != nil {
		http.Error(w, "no way there", http.StatusBadGateway)
		return
	}
	defer func() { _ = server.Close() }()
	client, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer func() { _ = client.Close() }()
	_, _ = io.WriteString(client, "HTTP/1.1 200 Connected\r\n\r\n")
	ended := make(chan struct{}, 2)
	go func() { _, _ = io.Copy(server, buffered); ended <- struct{}{} }()
	go func() { _, _ = io.Copy(client, server); ended <- struct{}{} }()
	select {
	case <-ended:
	case <-p.server.done:
	}
}

func address(base string) string {
	_, address, _ := strings.Cut(base, "://")
	return address
}
