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

// longBody is the most bytes of a body that is sent without asking the Manager first. The Manager refuses more than 2 MiB
// without reading it, and its message is lost if the connection breaks in the middle of the body.
const longBody = 1 << 20

func (m *Manager) newRequest(ctx context.Context, r *request, header http.Header) (*http.Request, error) {
	var body io.Reader
	if r.body != nil {
		body = bytes.NewReader(r.body)
	}
	req, err := http.NewRequestWithContext(ctx, r.method, m.address.base+r.route, body)
	if err != nil {
		return nil, err
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
		if len(r.body) > longBody {
			header.Set("Expect", "100-continue")
		}
	}
	req.Header = header
	return req, nil
}
