package node

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"time"
)

// stallLimit is how long an http node without a timeout may take without progress.
const stallLimit = 30 * time.Second

// errStalled is the cause of a context that ended because there was no progress.
var errStalled = errors.New("no progress for " + seconds(stallLimit) + " seconds")

// stallWatch ends an exchange that makes no progress. A nil *stallWatch does nothing.
type stallWatch struct{ timer *time.Timer }

// watchStalls returns a context that ends when there is no progress for stallLimit. The caller must call the returned function.
func watchStalls(ctx context.Context) (context.Context, *stallWatch, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(stallLimit, func() { cancel(errStalled) })
	return ctx, &stallWatch{timer}, func() {
		timer.Stop()
		cancel(nil)
	}
}

// progress notes that there was progress.
func (w *stallWatch) progress() {
	if w != nil {
		w.timer.Reset(stallLimit)
	}
}

// pause stops the watch until the next progress: a wait before another attempt is no stall.
func (w *stallWatch) pause() {
	if w != nil {
		w.timer.Stop()
	}
}

// trace notes the steps of a request up to its response.
func (w *stallWatch) trace(t *httptrace.ClientTrace) *httptrace.ClientTrace {
	if w == nil {
		return t
	}
	connected := t.GotConn
	t.GotConn = func(info httptrace.GotConnInfo) {
		w.progress()
		connected(info)
	}
	t.DNSDone = func(httptrace.DNSDoneInfo) { w.progress() }
	t.WroteRequest = func(httptrace.WroteRequestInfo) { w.progress() }
	t.GotFirstResponseByte = w.progress
	return t
}

// sent makes a request's body note what is sent of it.
func (w *stallWatch) sent(req *http.Request) {
	if w == nil || req.Body == nil || req.Body == http.NoBody {
		return
	}
	req.Body = &watchedBody{req.Body, w}
	if again := req.GetBody; again != nil {
		req.GetBody = func() (io.ReadCloser, error) {
			body, err := again()
			return &watchedBody{body, w}, err
		}
	}
}

// received makes a response's body note what is received of it.
func (w *stallWatch) received(resp *http.Response) {
	if w != nil {
		resp.Body = &watchedBody{resp.Body, w}
	}
}

// watchedBody is a body that notes progress when some of it is read.
type watchedBody struct {
	io.ReadCloser
	watch *stallWatch
}

func (b *watchedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		b.watch.progress()
	}
	return n, err
}
