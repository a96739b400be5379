package mcpclient

import (
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/tidwall/gjson"
)

// cancelled is the method of the notification that tells a server that a request was cancelled.
const cancelled = "notifications/cancelled"

// cancelPatience is how long the end of a session waits until the server has been told what was cancelled.
const cancelPatience = 500 * time.Millisecond

// cancellations counts the notifications about cancelled requests. The SDK sends them after the request has returned, and the
// session must not end before.
type cancellations struct {
	mu sync.Mutex
	// owed is how many requests were cancelled, less the notifications that were sent. A notification may be counted first.
	owed    int
	changed chan struct{}
}

// add counts a cancelled request as 1, and a notification that was sent as -1.
func (c *cancellations) add(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.owed += n
	if c.changed != nil {
		close(c.changed)
		c.changed = nil
	}
}

// wait waits until all notifications are sent, at most cancelPatience.
func (c *cancellations) wait() {
	late := time.NewTimer(cancelPatience)
	defer late.Stop()
	for {
		c.mu.Lock()
		if c.owed <= 0 {
			c.mu.Unlock()
			return
		}
		if c.changed == nil {
			c.changed = make(chan struct{})
		}
		changed := c.changed
		c.mu.Unlock()
		select {
		case <-changed:
		case <-late.C:
			return
		}
	}
}

// isCancellation reports whether the body of a request is a notification about a cancelled request.
func isCancellation(req *http.Request) bool {
	return gjson.GetBytes(beginning(req), "method").Str == cancelled
}

// isAnswer reports whether the body of a request is the answer to a request of the server.
func isAnswer(req *http.Request) bool {
	body := beginning(req)
	return len(body) > 0 && !gjson.GetBytes(body, "method").Exists()
}

// beginning returns the body of a request, or its beginning if it is long. It returns nil if the body cannot be read again.
func beginning(req *http.Request) []byte {
	if req.GetBody == nil {
		return nil
	}
	body, err := req.GetBody()
	if err != nil {
		return nil
	}
	text, _ := io.ReadAll(io.LimitReader(body, 4<<10))
	return text
}
