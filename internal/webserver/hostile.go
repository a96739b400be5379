package webserver

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// pause is the time between two bytes of a slow response.
const pause = 10 * time.Millisecond

// hostile adds the pages that misbehave:
//
//	/hostile/silent           no response at all
//	/hostile/slow-headers     headers that come byte by byte and never end
//	/hostile/endless-headers  headers that come fast and never end
//	/hostile/informational    endless interim responses
//	/hostile/drip             a body that comes byte by byte and never ends
//	/hostile/endless          a body that comes fast and never ends, with the status in the query's "code" (200)
//	/hostile/short            a body shorter than its Content-Length
//	/hostile/long             a body longer than its Content-Length, which is 5: "whole" and more
//	/hostile/chunks           chunks that break off
//	/hostile/numbers          chunks with an invalid length
//	/hostile/lengths          two lengths
//	/hostile/upgrade          101 Switching Protocols, and then nothing
//	/hostile/garbage          text that is not HTTP
//	/hostile/loop             a redirect to itself; /hostile/ping and /hostile/pong redirect to each other
//	/hostile/maze/N           a redirect to the next N
//	/hostile/bomb             10 MB of gzip that decompress to 10 GB, as text; with the query "json" as JSON
//	/hostile/unpacked         text whose header says gzip
//	/hostile/torn             gzip that breaks off
//	/hostile/corrupt          gzip with invalid bytes in the middle
func (s *Server) hostile(m *http.ServeMux) {
	raw := func(path string, talk func(net.Conn)) {
		m.HandleFunc("/hostile/"+path, func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil { // HTTP/2 has no connection to take over
				w.WriteHeader(http.StatusHTTPVersionNotSupported)
				return
			}
			defer func() { _ = conn.Close() }()
			talk(conn)
		})
	}
	raw("silent", func(c net.Conn) { s.untilGone(c) })
	raw("slow-headers", func(c net.Conn) { s.slowly(c, "HTTP/1.1 200 OK\r\nX-Slow: ") })
	raw("endless-headers", func(c net.Conn) { forever(c, "HTTP/1.1 200 OK\r\n", "X-Long: "+strings.Repeat("x", 1000)+"\r\n") })
	raw("informational", func(c net.Conn) { forever(c, "", "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n") })
	raw("drip", func(c net.Conn) { s.slowly(c, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n") })
	raw("short", func(c net.Conn) {
		say(c, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 1000\r\n\r\na part")
	})
	raw("long", func(c net.Conn) {
		say(c, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nwhole and more")
	})
	raw("chunks", func(c net.Conn) {
		say(c, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n6\r\na part\r\n")
	})
	raw("numbers", func(c net.Conn) {
		say(c, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n6\r\na part\r\nsix\r\n")
	})
	raw("lengths", func(c net.Conn) { say(c, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab") })
	raw("upgrade", func(c net.Conn) {
		say(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n")
		s.untilGone(c)
	})
	raw("garbage", func(c net.Conn) { say(c, "220 mail.example.org ESMTP ready\r\n") })
	m.HandleFunc("/hostile/endless", endless)
	to := func(place string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, place, http.StatusFound) }
	}
	m.HandleFunc("/hostile/loop", to("/hostile/loop"))
	m.HandleFunc("/hostile/ping", to("/hostile/pong"))
	m.HandleFunc("/hostile/pong", to("/hostile/ping"))
	m.HandleFunc("/hostile/maze/{n}", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/hostile/maze/"+strconv.Itoa(number(r.PathValue("n"), 0)+1), http.StatusFound)
	})
	m.HandleFunc("/hostile/bomb", bomb)
	m.HandleFunc("/hostile/unpacked", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		plain(w, "this is no gzip at all")
	})
	m.HandleFunc("/hostile/torn", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Content-Type", "text/plain")
		member := megabyte()
		_, _ = w.Write(member[:len(member)/2])
	})
	m.HandleFunc("/hostile/corrupt", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Content-Type", "text/plain")
		member := bytes.Clone(megabyte())
		copy(member[len(member)/2:], "\xff\xff\xff\xff\xff\xff\xff\xff")
		_, _ = w.Write(member)
	})
}

func say(c net.Conn, text string) { _, _ = io.WriteString(c, text) }

// forever writes first, and then again and again until the client is gone.
func forever(c net.Conn, first, again string) {
	say(c, first)
	for {
		if _, err := io.WriteString(c, again); err != nil {
			return
		}
	}
}

// slowly writes first, and then one byte at a time until the client is gone.
func (s *Server) slowly(c net.Conn, first string) {
	say(c, first)
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for {
		select {
		case <-s.done:
			return
		case <-tick.C:
			if _, err := c.Write([]byte("x")); err != nil {
				return
			}
		}
	}
}

// untilGone waits until the client is gone or the server is closed.
func (s *Server) untilGone(c net.Conn) {
	gone := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, c)
		close(gone)
	}()
	select {
	case <-gone:
	case <-s.done:
	}
}

func endless(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain")
	w.WriteHeader(number(r.URL.Query().Get("code"), http.StatusOK))
	block := bytes.Repeat([]byte("endless "), 8<<10)
	for {
		if _, err := w.Write(block); err != nil {
			return
		}
	}
}

func bomb(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Encoding", "gzip")
	w.Header().Set("Content-Type", "text/plain")
	if r.URL.Query().Has("json") {
		w.Header().Set("Content-Type", "application/json")
	}
	member := megabyte()
	w.Header().Set("Content-Length", fmt.Sprint(len(member)*10<<10))
	for range 10 << 10 {
		if _, err := w.Write(member); err != nil {
			return
		}
	}
}

// megabyte returns a MiB of zeros as a gzip member. Any number of members may follow one another.
var megabyte = sync.OnceValue(func() []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(bytes.Repeat([]byte("0"), 1<<20))
	_ = z.Close()
	return b.Bytes()
})
