package mcphttp

import (
	"io"
	"net/http"
	"time"
)

// bodyTime is how long a client may take to send a body.
const bodyTime = 30 * time.Second

// timedBodies returns a handler whose requests must have sent their bodies within a time. After that a read of the body fails, also
// the one with which net/http discards the rest of a body that was not read, and the connection is closed. Once the body has been
// read, the answer may take any time.
func timedBodies(next http.Handler, within time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body != nil && r.Body != http.NoBody {
			connection := http.NewResponseController(w)
			if connection.SetReadDeadline(time.Now().Add(within)) == nil {
				r.Body = &timedBody{r.Body, connection}
			}
		}
		next.ServeHTTP(w, r)
	})
}

// timedBody is a body that lifts the deadline of its connection at its end.
type timedBody struct {
	io.ReadCloser
	connection *http.ResponseController
}

func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF { //nolint:errorlint // a body ends with io.EOF itself; a wrapped one is a failure
		_ = b.connection.SetReadDeadline(time.Time{}) // or it would end the request later
	}
	return n, err
}
