package mcphttp

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// TestBodyTime holds that a connection whose body does not arrive is closed, whether the handler reads the body or not, and that an
// answer may take longer than a body.
func TestBodyTime(t *testing.T) {
	const limit = time.Second
	routes := http.NewServeMux()
	routes.HandleFunc("/read", func(w http.ResponseWriter, r *http.Request) {
		if _, _, refused := read(w, r); refused != nil {
			w.WriteHeader(http.StatusRequestTimeout)
		}
	})
	routes.HandleFunc("/unread", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) })
	routes.HandleFunc("/long", func(w http.ResponseWriter, r *http.Request) {
		_, err := io.ReadAll(r.Body)
		select {
		case <-r.Context().Done():
			err = r.Context().Err()
		case <-time.After(3 * limit):
		}
		if err != nil {
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	server := httptest.NewServer(timedBodies(routes, limit))
	defer server.Close()
	for path, want := range map[string]struct {
		length, status int
	}{"/read": {100, 408}, "/unread": {100, 401}, "/long": {1, 200}} {
		connection, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_ = connection.SetDeadline(time.Now().Add(5 * time.Minute))
		_, _ = fmt.Fprintf(connection, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n{", path, want.length)
		in := bufio.NewReader(connection)
		response, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		_ = response.Body.Close()
		if response.StatusCode != want.status {
			t.Errorf("%s: status %d, want %d", path, response.StatusCode, want.status)
		}
		if want.length > 1 {
			if _, err := in.ReadByte(); err != io.EOF { //nolint:errorlint // bufio returns it as it is
				t.Errorf("%s: the connection is not closed: %v", path, err)
			}
		}
		_ = connection.Close()
	}
}
