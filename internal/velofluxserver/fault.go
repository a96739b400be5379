package velofluxserver

import (
	"context"
	"net/http"
	"slices"
	"time"
)

// Fault is what goes wrong with a request. The zero value has no effect.
type Fault struct {
	// Times is the number of requests that it affects; 0 means all.
	Times int
	// Status and Body replace the Manager's response, and nothing is done. Status is 200 if only Body is set.
	Status int
	Body   string
	// ContentType is the type of Body; empty means the Manager's type for texts.
	ContentType string
	// Delay is how long the request waits before anything happens. If the client goes away meanwhile, nothing is done.
	Delay time.Duration
	// Deaf means that the request is carried out after the Delay even if the client has gone away.
	Deaf bool
	// Until holds the request after the Delay until it is closed. If the client goes away meanwhile, nothing is done.
	Until <-chan struct{}
	// DelayAfter is how long the response waits after the request was carried out.
	DelayAfter time.Duration
	// Hang means that nothing is done and no response is sent until the client goes away or the server closes.
	Hang bool
	// Drop means that the request is carried out, and then the connection is cut without a response.
	Drop bool
	// Cut is the number of bytes of the body after which the connection is cut; 0 means never.
	Cut int
}

// fault is a Fault for the requests of a route.
type fault struct {
	Fault
	method, pattern string
	left            int
}

// On makes the next requests of a route fail. route is a pattern such as "/pipelines" or "/pipelines/{id}/explain"; an
// empty one stands for any path, including unknown ones, and an empty method for any method. Several faults of one route
// happen in the order in which they were added. undo removes the fault. On panics if the Manager does not have the route.
func (s *Server) On(method, route string, f Fault) (undo func()) {
	known := slices.ContainsFunc(routes(), func(r knownRoute) bool { return r.pattern == route })
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

// fault returns the fault that affects a request, or nil.
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

// fail answers a request with a fault.
func (s *Server) fail(ctx context.Context, c *call, r knownRoute, f *Fault) {
	if f.Deaf {
		ctx = context.WithoutCancel(ctx)
	}
	if !s.wait(ctx, f.Delay) || f.Until != nil && !waitFor(ctx, s, f.Until) {
		abort()
	}
	if f.Hang {
		waitFor[struct{}](ctx, s, nil)
		abort()
	}
	var a response
	if f.Status != 0 || f.Body != "" {
		a = f.response()
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

func (f *Fault) response() response {
	a := textResponse(f.Status, f.Body)
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

// wait waits for a time. ok is false if the client or the server goes away meanwhile.
func (s *Server) wait(ctx context.Context, d time.Duration) (ok bool) {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	return waitFor(ctx, s, timer.C)
}

// waitFor waits until a channel is closed or receives. ok is false if the client or the server goes away meanwhile.
func waitFor[T any](ctx context.Context, s *Server, until <-chan T) (ok bool) {
	select {
	case <-until:
		return true
	case <-ctx.Done():
		return false
	case <-s.done:
		return false
	}
}
