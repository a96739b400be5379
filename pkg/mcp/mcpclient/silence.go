package mcpclient

import (
	"context"
	"encoding/json"
	"io"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pflow-suite/pflow/pkg/fault"
)

const (
	// listSilence is how long a server may be silent while it lists its tools or resources. The whole list may take longer.
	listSilence = 5 * time.Second
	// silencePart is how many bytes end a silence. Fewer, such as one now and then, do not.
	silencePart = 64 << 10
	// maxUnasked is the most bytes that a server may send beside the answer to a request for a list.
	maxUnasked = 16 << 20
	// minUnasked is how many bytes a line counts at least, because many short ones cost more time than a long one.
	minUnasked = 1 << 10
)

// hearing counts what a server sends.
type hearing struct {
	// bytes is the number of all bytes, and unasked that of the bytes which are no answer to a request.
	bytes, unasked atomic.Int64
	// working is true while this program works on what it has received.
	working atomic.Bool
}

// heardReader counts what is read from a server.
type heardReader struct {
	io.Reader
	*hearing
}

func (r heardReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.bytes.Add(int64(n))
	return n, err
}

// listing is the list of something that a server has.
type listing struct {
	*Session
	what string
}

// page makes the request for a page of the list. It fails if the server is silent for listSilence, or sends more than maxUnasked bytes of
// something else.
func (s listing) page(ctx context.Context, request func(context.Context) (mcp.Result, error)) (json.RawMessage, error) {
	x := &pendingRequest{}
	heard := &x.heard
	if s.stdio != nil { // whose answers come in one stream
		heard = &s.stdio.heard
	}
	ctx, end := joined(ctx, s.calls)
	defer end(nil)
	before := heard.unasked.Load()
	go func() {
		if f := heard.silence(ctx, x, before+maxUnasked, "MCP server "+s.name+" did not list its "+s.what); f != nil {
			end(f)
		}
	}()
	result, err := s.exchange(ctx, x, request)
	if err != nil {
		return nil, s.requestFault(ctx, err)
	}
	return result, nil
}

// silence returns a fault that begins with failed, when the server has been silent for too long before the answer to x, or has sent more
// than most bytes that are no answer. It returns nil when ctx ends. It counts how often it looks in vain: time in which this program itself
// gets no turn on a busy machine, or works on what it has received, is no silence of the server.
func (h *hearing) silence(ctx context.Context, x *pendingRequest, most int64, failed string) *fault.Fault {
	const looks = 20
	next := time.NewTicker(listSilence / looks)
	defer next.Stop()
	bytes, answered := h.bytes.Load(), false
	for silent := 0; silent < looks; {
		select {
		case <-next.C:
		case <-ctx.Done():
			return nil
		}
		now, kept := h.bytes.Load(), x.kept() != nil // which over HTTP may be the answer to another request
		switch {
		case h.unasked.Load() > most:
			return fault.New(fault.TooLarge, "%s: it sent more than %d MiB or %d lines of something else", failed, maxUnasked>>20, maxUnasked/minUnasked)
		case now-bytes >= silencePart, kept && !answered:
			bytes, silent, answered = now, 0, kept
		case !h.working.Load():
			silent++
		}
	}
	return fault.New(fault.Timeout, "%s: it was silent for %s", failed, seconds(listSilence))
}
