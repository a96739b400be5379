package veloflux

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"time"
)

// request is what is asked of the Manager.
type request struct {
	method string
	route  string // begins with a slash and is escaped
	accept string
	body   []byte // JSON, nil for none
	// timeout is for a route that takes its time, 0 is the Manager's own.
	timeout time.Duration
}

// creates says whether the request makes a pipeline.
func (r *request) creates() bool { return r.method == http.MethodPost }

// longBody is the size from which on a body is sent only when the Manager wants it. It refuses one of more than 2 MiB
// without reading it, and its words are lost when the connection breaks in the middle of the body.
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
	header = header.Clone() // what is added here the user has not given
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
