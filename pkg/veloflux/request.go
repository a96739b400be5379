package veloflux

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"time"
)

// request is a request to the Manager.
type request struct {
	method string
	route  string // begins with a slash and is escaped
	accept string
	body   []byte // JSON, or nil
	// timeout is for a route that may take longer; 0 means that of the client.
	timeout time.Duration
}

// creates reports whether the request creates a pipeline.
func (r *request) creates() bool { return r.method == http.MethodPost }

// bodyLimit is the most bytes of a body that the Manager accepts. It refuses a longer one as soon as it has read that much, and
// closes the connection. answerTime is how long the rest of the body waits for that: an answer that crosses the rest can be
// lost. The first bytes beyond the limit go along, since some of them may stay in a buffer.
const (
	bodyLimit  = 2<<20 + 16<<10
	answerTime = 500 * time.Millisecond
)

// longBody is a body over the Manager's limit.
type longBody struct {
	ctx    context.Context
	rest   *bytes.Reader
	waited bool
}

func (b *longBody) Read(p []byte) (int, error) {
	if sent := int(b.rest.Size()) - b.rest.Len(); sent < bodyLimit {
		p = p[:min(len(p), bodyLimit-sent)]
	} else if !b.waited {
		b.waited = true
		select {
		case <-time.After(answerTime):
		case <-b.ctx.Done():
		}
	}
	return b.rest.Read(p)
}

func (m *Manager) newRequest(ctx context.Context, r *request, header http.Header) (*http.Request, error) {
	var body io.Reader
	if r.body != nil {
		body = bytes.NewReader(r.body)
	}
	req, err := http.NewRequestWithContext(ctx, r.method, m.address.base+r.route, body)
	if err != nil {
		return nil, err
	}
	if len(r.body) > bodyLimit {
		req.GetBody = func() (io.ReadCloser, error) {
			return io.NopCloser(&longBody{ctx: ctx, rest: bytes.NewReader(r.body)}), nil
		}
		req.Body, _ = req.GetBody()
	}
	header = header.Clone() // the caller's header stays as the user gave it
	if host := header.Get("Host"); host != "" {
		req.Host = host
	}
	if header.Get("Accept") == "" {
		header.Set("Accept", r.accept)
	}
	if r.body != nil {
		header.Set("Content-Type", "application/json")
	}
	req.Header = header
	return req, nil
}
