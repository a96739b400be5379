package velofluxserver

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// knownRoute is a route of the Manager, with its methods.
type knownRoute struct {
	pattern string
	// allow lists the methods as the Manager does in its header.
	allow string
	do    map[string]func(*Server, *call) response
	// arg is the decoded value of the parameter in the pattern.
	arg string
}

// routes returns all routes. Memory topics have only the routes that streams need. Shared MQTT clients, user-defined
// functions, import and export are left out.
func routes() []knownRoute {
	type methods = map[string]func(*Server, *call) response
	return []knownRoute{
		{pattern: "/functions", allow: "GET,HEAD", do: methods{"GET": (*Server).listFunctions}},
		{pattern: "/functions/describe/{name}", allow: "GET,HEAD", do: methods{"GET": (*Server).describeFunction}},
		{pattern: "/capabilities/syntax", allow: "GET,HEAD", do: methods{"GET": (*Server).syntax}},
		{pattern: "/streams", allow: "POST,GET,HEAD", do: methods{"GET": (*Server).listStreams, "POST": (*Server).createStream}},
		{pattern: "/streams/describe/{name}", allow: "GET,HEAD", do: methods{"GET": (*Server).describeStream}},
		{pattern: "/streams/{name}", allow: "DELETE", do: methods{"DELETE": (*Server).deleteStream}},
		{pattern: "/streams/{name}/shared/stats", allow: "GET,HEAD", do: methods{"GET": (*Server).sharedStats}},
		{pattern: "/memory/topics", allow: "POST,GET,HEAD", do: methods{"GET": (*Server).listTopics, "POST": (*Server).createTopic}},
		{pattern: "/pipelines", allow: "POST,GET,HEAD", do: methods{"GET": (*Server).listPipelines, "POST": (*Server).createPipeline}},
		{pattern: "/pipelines/{id}", allow: "GET,HEAD,PUT,DELETE", do: methods{
			"GET": (*Server).getPipeline, "PUT": (*Server).putPipeline, "DELETE": (*Server).deletePipeline,
		}},
		{pattern: "/pipelines/{id}/start", allow: "POST", do: methods{"POST": (*Server).startPipeline}},
		{pattern: "/pipelines/{id}/stop", allow: "POST", do: methods{"POST": (*Server).stopPipeline}},
		{pattern: "/pipelines/{id}/explain", allow: "GET,HEAD", do: methods{"GET": (*Server).explainPipeline}},
		{pattern: "/pipelines/{id}/stats", allow: "GET,HEAD", do: methods{"GET": (*Server).pipelineStats}},
	}
}

// findRoute returns the route of a path as it is on the wire. The path is split into segments before they are decoded. The
// pattern of an unknown path is empty.
func findRoute(target string) knownRoute {
	segments := strings.Split(target, "/")
	for _, r := range routes() {
		pattern := strings.Split(r.pattern, "/")
		if slices.EqualFunc(pattern, segments, segmentMatches) {
			if i := slices.IndexFunc(pattern, isParameter); i >= 0 {
				r.arg, _ = url.PathUnescape(segments[i])
			}
			return r
		}
	}
	return knownRoute{}
}

func isParameter(pattern string) bool { return strings.HasPrefix(pattern, "{") }

func segmentMatches(pattern, segment string) bool {
	return pattern == segment || isParameter(pattern) && segment != ""
}

// call is a request that is being answered.
type call struct {
	w          http.ResponseWriter
	method     string
	query, arg string
	header     http.Header
	body       []byte
}

// response is a response of the Manager. Without a contentType it has no Content-Type header.
type response struct {
	status      int
	contentType string
	body        []byte
	header      map[string]string
}

func textResponse(status int, body string) response {
	return response{status: status, contentType: "text/plain; charset=utf-8", body: []byte(body)}
}

// emptyResponse returns a response without a body.
func emptyResponse(status int) response { return response{status: status} }

// ServeHTTP answers a request and records it.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	target := wire(r)
	body, err := io.ReadAll(io.LimitReader(r.Body, 64<<20))
	if err != nil {
		return
	}
	s.mu.Lock()
	s.requests = append(s.requests, Request{Method: r.Method, Path: target, Header: r.Header.Clone(), Body: bytes.Clone(body)})
	s.mu.Unlock()
	where, query, _ := strings.Cut(target, "?")
	found := findRoute(where)
	c := &call{w: w, method: r.Method, query: query, header: r.Header, body: body}
	if f := s.fault(r.Method, found.pattern); f != nil {
		s.fail(r.Context(), c, found, f)
		return
	}
	c.serve(s, found)
}

// wire returns the path and the query as they are on the wire.
func wire(r *http.Request) string {
	if strings.HasPrefix(r.RequestURI, "/") {
		return r.RequestURI
	}
	return r.URL.RequestURI() // the request was made in the program or is meant for a proxy
}

func (c *call) serve(s *Server, r knownRoute) { c.write(c.act(s, r)) }

// act carries out the request.
func (c *call) act(s *Server, r knownRoute) response {
	c.arg = r.arg
	if c.method == http.MethodOptions {
		return response{status: http.StatusOK, header: map[string]string{"Allow": r.allow}}
	}
	if r.pattern == "" {
		return emptyResponse(http.StatusNotFound)
	}
	method := c.method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	do, ok := r.do[method]
	if !ok {
		a := emptyResponse(http.StatusMethodNotAllowed)
		a.header = map[string]string{"Allow": r.allow}
		return a
	}
	return do(s, c)
}

func (c *call) write(a response) {
	c.head(a)
	if c.method != http.MethodHead {
		_, _ = c.w.Write(a.body)
	}
}

// head writes the status and the headers, including those that allow requests from any page in a browser (CORS).
func (c *call) head(a response) {
	h := c.w.Header()
	h.Set("Vary", "origin, access-control-request-method, access-control-request-headers")
	h.Set("Access-Control-Allow-Origin", "*")
	if c.method == http.MethodOptions {
		h.Set("Access-Control-Allow-Methods", "*")
		h.Set("Access-Control-Allow-Headers", "*")
	} else {
		h.Set("Access-Control-Expose-Headers", "*")
	}
	h["Content-Type"] = nil // keeps the server from guessing one
	if a.contentType != "" {
		h.Set("Content-Type", a.contentType)
	}
	for name, value := range a.header {
		if value != "" {
			h.Set(name, value)
		}
	}
	h.Set("Content-Length", strconv.Itoa(len(a.body)))
	c.w.WriteHeader(a.status)
}
