package mcpclient

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// Pool holds the sessions of one run. A server is started when it is first needed, shared by all callers, started again
// if it has died, and stopped when the pool is closed.
type Pool struct {
	spec func(name string) (Spec, error)

	ctx    context.Context
	cancel context.CancelFunc
	starts sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	started map[string]*start
}

// start is one start of a server. session and err are set when done is closed.
type start struct {
	done    chan struct{}
	session *Session
	err     error
}

// NewPool returns a pool. spec returns how to connect to a server; Session returns its error.
func NewPool(spec func(name string) (Spec, error)) *Pool {
	ctx, cancel := context.WithCancel(context.Background())
	return &Pool{spec: spec, ctx: ctx, cancel: cancel, started: map[string]*start{}}
}

// Session returns the session with a server, starting the server if needed. Concurrent callers wait for the same start.
// After a failed start, the next caller tries again. The caller must not close the session; the pool does.
func (p *Pool) Session(ctx context.Context, server string) (*Session, error) {
	for {
		st, err := p.current(server)
		if err != nil {
			return nil, err
		}
		select {
		case <-st.done:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		if st.err != nil {
			return nil, st.err
		}
		if !st.session.Dead() {
			return st.session, nil
		}
		p.drop(server, st)
		st.session.Close()
	}
}

// current returns the current start of a server, and begins one if no start is under way.
func (p *Pool) current(server string) (*start, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, fault.New(fault.Internal, "MCP server %s was requested after the end of the run", server)
	}
	if st, ok := p.started[server]; ok {
		return st, nil
	}
	st := &start{done: make(chan struct{})}
	p.started[server] = st
	p.starts.Go(func() { // not bound by the caller's context, because others may be waiting too
		defer close(st.done)
		spec, err := p.spec(server)
		if err == nil {
			st.session, err = Connect(p.ctx, spec)
		}
		if st.err = err; err != nil {
			p.drop(server, st)
		}
	})
	return st, nil
}

func (p *Pool) drop(server string, st *start) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.started[server] == st {
		delete(p.started, server)
	}
}

// Close cancels starts, ends calls, and returns when all servers have stopped.
func (p *Pool) Close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.cancel()
	p.starts.Wait()
	p.mu.Lock()
	started := slices.Collect(maps.Values(p.started))
	p.mu.Unlock()
	var closing sync.WaitGroup
	for _, st := range started { // all have a session, since a failed start removes itself
		closing.Go(st.session.Close)
	}
	closing.Wait()
}
