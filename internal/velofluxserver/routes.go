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

// path is one of the Manager's and what its methods do.
type path struct {
	pattern string
	// allow lists the methods as the Manager does in its header.
	allow string
	do    map[string]func(*Server, *call) answer
	// arg is the value of the pattern's {}, decoded.
	arg string
}

// routes are all of them. Of those that are about memory topics only what streams need is here, and nothing about shared MQTT
// clients, user-defined functions, import and export.
func routes() []path {
	type methods = map[string]func(*Server, *call) answer
	return []path{
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

// find finds a path as it is on the wire. A segment is what stands between two slashes before it is decoded; the pattern of an
// unknown path is empty.
func find(target string) path {
	segments := strings.Split(target, "/")
	for _, r := range routes() {
		pattern := strings.Split(r.pattern, "/")
		if slices.EqualFunc(pattern, segments, fits) {
			if i := slices.IndexFunc(pattern, parameter); i >= 0 {
				r.arg, _ = url.PathUnescape(segments[i])
			}
			return r
		}
	}
	return path{}
}

func parameter(pattern string) bool { return strings.HasPrefix(pattern, "{") }

func fits(pattern, segment string) bool {
	return pattern == segment || parameter(pattern) && segment != ""
}

// call is a request while it is answered.
type call struct {
	w          http.ResponseWriter
	method     string
	query, arg string
	header     http.Header
	body       []byte
}

// answer is what the Manager says. A body without a type is text.
type answer struct {
	status      int
	contentType string
	body        []byte
	header      map[string]string
}

func text(status int, body string) answer {
	return answer{status: status, contentType: "text/plain; charset=utf-8", body: []byte(body)}
}

// empty is the answer to what has no route.
func empty(status int) answer { return answer{status: status} }

// ServeHTTP answers a request and keeps it.
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
	found := find(where)
	c := &call{w: w, method: r.Method, query: query, header: r.Header, body: body}
	if f := s.fault(r.Method, found.pattern); f != nil {
		s.fail(r.Context(), c, found, f)
		return
	}
	c.serve(s, found)
}

// wire is the path and the query as they came.
func wire(r *http.Request) string {
	if strings.HasPrefix(r.RequestURI, "/") {
		return r.RequestURI
	}
	return r.URL.RequestURI() // a request made for a handler, or one for a proxy
}

func (c *call) serve(s *Server, r path) { c.write(c.act(s, r)) }

// act does what is asked.
func (c *call) act(s *Server, r path) answer {
	c.arg = r.arg
	if c.method == http.MethodOptions {
		return answer{status: http.StatusOK, header: allowed(r.allow)}
	}
	if r.pattern == "" {
		return empty(http.StatusNotFound)
	}
	method := c.method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	do, ok := r.do[method]
	if !ok {
		a := empty(http.StatusMethodNotAllowed)
		a.header = allowed(r.allow)
		return a
	}
	return do(s, c)
}

func allowed(methods string) map[string]string {
	if methods == "" {
		return nil
	}
	return map[string]string{"Allow": methods}
}

func (c *call) write(a answer) {
	c.head(a)
	if c.method != http.MethodHead {
		_, _ = c.w.Write(a.body)
	}
}

// head writes the status and the headers, those of a server that lets every page in a browser ask.
func (c *call) head(a answer) {
	h := c.w.Header()
	h.Set("Vary", "origin, access-control-request-method, access-control-request-headers")
	h.Set("Access-Control-Allow-Origin", "*")
	if c.method == http.MethodOptions {
		h.Set("Access-Control-Allow-Methods", "*")
		h.Set("Access-Control-Allow-Headers", "*")
	} else {
		h.Set("Access-Control-Expose-Headers", "*")
	}
	h["Content-Type"] = nil // without this the server guesses one
	if a.contentType != "" {
		h.Set("Content-Type", a.contentType)
	}
	for name, value := range a.header {
		h.Set(name, value)
	}
	h.Set("Content-Length", strconv.Itoa(len(a.body)))
	c.w.WriteHeader(a.status)
}
