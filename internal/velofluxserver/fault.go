package velofluxserver

import (
	"context"
	"net/http"
	"slices"
	"time"
)

// Fault is what goes wrong with a request. The zero value is nothing.
type Fault struct {
	// Times is how many requests it happens to; 0 is all.
	Times int
	// Status is answered in the place of the Manager's answer, and nothing is done. With a Body and no Status it is 200.
	Status int
	Body   string
	// ContentType is that of Body, by default the Manager's for texts.
	ContentType string
	// Delay is how long nothing happens at first. A client that is gone meanwhile has asked for nothing.
	Delay time.Duration
	// Until holds the request after the Delay until it is closed. A client that is gone meanwhile has asked for nothing.
	Until <-chan struct{}
	// DelayAfter is how long the answer takes after everything is done.
	DelayAfter time.Duration
	// Hang says that nothing is done or answered until the client is gone or the server closes.
	Hang bool
	// Drop says that everything is done, and then the connection is cut without an answer.
	Drop bool
	// Cut is after how many bytes of the body the connection is cut; 0 is never.
	Cut int
}

// fault is a Fault that waits for its requests.
type fault struct {
	Fault
	method, pattern string
	left            int
}

// On lets the next requests of a route go wrong. The route is a pattern such as "/pipelines" or "/pipelines/{id}/explain"; an
// empty one is any path, also one that has no route, and an empty method is any. Several faults of one route happen in the order
// in which they were added. Undo takes the fault away. It panics when the Manager has no such route.
func (s *Server) On(method, route string, f Fault) (undo func()) {
	known := slices.ContainsFunc(routes(), func(r path) bool { return r.pattern == route })
	if route != "" && !known {
		panic("the Manager has no route " + route)
	}
	added := &fault{Fault: f, method: method, pattern: route, left: f.Times}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, added)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.faults = slices.DeleteFunc(s.faults, func(f *fault) bool { return f == added })
	}
}

// fault takes the one that happens to a request, if any does.
func (s *Server) fault(method, pattern string) *Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, f := range s.faults {
		if f.method != "" && f.method != method || f.pattern != "" && f.pattern != pattern {
			continue
		}
		if f.left == 1 {
			s.faults = slices.Delete(s.faults, i, i+1)
		}
		f.left--
		return &f.Fault
	}
	return nil
}

// fail lets a fault happen.
func (s *Server) fail(ctx context.Context, c *call, r path, f *Fault) {
	if !s.wait(ctx, f.Delay) || f.Until != nil && !held(ctx, s, f.Until) {
		abort()
	}
	if f.Hang {
		s.hang(ctx)
		abort()
	}
	var a answer
	if f.Status != 0 || f.Body != "" {
		a = f.answer()
	} else {
		a = c.act(s, r)
	}
	if !s.wait(ctx, f.DelayAfter) || f.Drop {
		abort()
	}
	if f.Cut == 0 || f.Cut >= len(a.body) {
		c.write(a)
		return
	}
	c.head(a)
	_, _ = c.w.Write(a.body[:f.Cut])
	_ = http.NewResponseController(c.w).Flush()
	abort()
}

func (f *Fault) answer() answer {
	a := text(f.Status, f.Body)
	if a.status == 0 {
		a.status = http.StatusOK
	}
	if f.ContentType != "" {
		a.contentType = f.ContentType
	} else if f.Body == "" {
		a.contentType = ""
	}
	return a
}

// abort cuts the connection.
func abort() { panic(http.ErrAbortHandler) }

func (s *Server) hang(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-s.done:
	}
}

// wait waits; ok is false when the client or the server is gone meanwhile.
func (s *Server) wait(ctx context.Context, d time.Duration) (ok bool) {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	return held(ctx, s, timer.C)
}

// held waits for the end of a hold; ok is false when the client or the server is gone meanwhile.
func held[T any](ctx context.Context, s *Server, until <-chan T) (ok bool) {
	select {
	case <-until:
		return true
	case <-ctx.Done():
		return false
	case <-s.done:
		return false
	}
}
