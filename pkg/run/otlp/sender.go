package otlp

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// Sender sends the batches of one signal, in their order.
type Sender struct {
	signal Signal
	config *Config
	client *http.Client
	queue  *spool
	log    *slog.Logger
	done   chan struct{}
	// accepted and delivered count spans, data points or log records.
	accepted, delivered atomic.Int64
	// succeeded is when a request was last answered with success, in nanoseconds since 1970, or 0.
	succeeded atomic.Int64

	mu  sync.Mutex
	why error // the last failure
}

// Options are what a Sender needs besides its configuration.
type Options struct {
	// Dir is the folder for what waits and does not fit into memory.
	Dir string
	// Proxy returns the proxy of a request, as http.Transport has it.
	Proxy     func(*http.Request) (*url.URL, error)
	UserAgent string
	Log       *slog.Logger
}

// NewSender returns a Sender, which sends until ctx ends or it is closed and all is sent.
func NewSender(ctx context.Context, s Signal, c *Config, o Options) *Sender {
	transport := &http.Transport{Proxy: o.Proxy, TLSClientConfig: c.TLS, ForceAttemptHTTP2: true, MaxIdleConns: 1, IdleConnTimeout: 90 * time.Second}
	sender := &Sender{
		signal: s, config: c, queue: newSpool(o.Dir), log: o.Log, done: make(chan struct{}),
		client: &http.Client{
			Transport: &named{transport, o.UserAgent},
			CheckRedirect: func(*http.Request, []*http.Request) error {
				return http.ErrUseLastResponse // the headers are for the collector alone
			},
		},
	}
	go sender.send(ctx)
	return sender
}

// named adds a User-Agent, which OTLP asks for.
type named struct {
	next http.RoundTripper
	name string
}

func (n *named) RoundTrip(r *http.Request) (*http.Response, error) {
	r.Header.Set("User-Agent", n.name)
	return n.next.RoundTrip(r)
}

// Put takes a batch to be sent. It does not wait. A batch that there is no room for counts as not delivered.
func (s *Sender) Put(b Batch) {
	items := Count(b)
	if items == 0 {
		return
	}
	s.accepted.Add(int64(items))
	encode := proto.Marshal
	if s.config.JSON {
		encode = func(m proto.Message) ([]byte, error) { return JSON(m) }
	}
	body, err := encode(b)
	if err != nil {
		s.failed(fault.New(fault.Internal, "Cannot encode %s: %v", s.signal, err))
		return
	}
	if !s.queue.put(request{body, items}) {
		s.failed(fault.New(fault.TooLarge, "More %s wait for the collector than fit into %d MiB on disk", s.signal, maxOnDisk>>20))
	}
}

// send sends what is put until the queue is closed and empty.
func (s *Sender) send(ctx context.Context) {
	defer close(s.done)
	for {
		r, ok := s.queue.take()
		if ok {
			s.deliver(ctx, r)
			continue
		}
		if _, closed := s.queue.state(); closed {
			return
		}
		select {
		case <-s.queue.changed:
		case <-ctx.Done():
			return
		}
	}
}

// Close says that no more batches come, and waits until all are sent. It gives up when patience has passed since the call and since the
// last request that succeeded. It returns how many spans, data points or log records were not delivered, and why.
func (s *Sender) Close(patience time.Duration) (undelivered int64, why error) {
	s.queue.close()
	began := time.Now()
	for {
		last := time.Unix(0, s.succeeded.Load())
		if last.Before(began) {
			last = began
		}
		timer := time.NewTimer(time.Until(last.Add(patience)))
		select {
		case <-s.done:
			timer.Stop()
			return s.undelivered()
		case <-timer.C:
		}
		if time.Unix(0, s.succeeded.Load()).After(last) {
			continue // it gets on
		}
		return s.undelivered()
	}
}

func (s *Sender) undelivered() (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.accepted.Load() - s.delivered.Load(), s.why
}

// Delivered returns how many spans, data points or log records the collector has taken.
func (s *Sender) Delivered() int64 { return s.delivered.Load() }

// failed records why something was not delivered, and logs what was not logged before.
func (s *Sender) failed(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.why == nil || s.why.Error() != err.Error() {
		s.log.Warn("a collector has not taken "+string(s.signal), "error", err)
	}
	s.why = err
}
