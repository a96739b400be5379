package webserver

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// pages returns the handler of all pages. These behave as a server should:
//
//	/echo             JSON of method, path, query, host, headers (names in lower case, the first value of each) and body
//	/status/N         the status N with the JSON {"status":N}
//	/bytes/N          N bytes that are not UTF-8
//	/text, /text/N    a line of text, or N bytes of text
//	/json             a JSON object
//	/gzip             a line of text, in gzip if the client accepts that
//	/latin1           text in ISO-8859-1, as its header says
//	/redirect         a redirect to the URL in the query's "to", with the status in its "code" (302)
//	/flaky/KEY/N      503 with Retry-After: 0 the first N times for a key, then JSON of the count
//	/drop/KEY/N       the end of the connection without a response the first N times, then JSON of the count
//	/cut/KEY/N        a body that ends too early the first N times, then JSON of the count
//	/refuse           the status in the query's "code" (503), with its "after" as Retry-After
//	/auth             200 and JSON of the credentials, for a bearer token or X-API-Key; else 401
//	/hostile/…        see hostile
func (s *Server) pages() http.Handler {
	m := http.NewServeMux()
	m.HandleFunc("/echo", echo)
	m.HandleFunc("/status/{n}", status)
	m.HandleFunc("/bytes/{n}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/octet-stream")
		fill(w, r, "\x00\xff\xfe\x80")
	})
	m.HandleFunc("/text", func(w http.ResponseWriter, _ *http.Request) { plain(w, "a line of text\n") })
	m.HandleFunc("/text/{n}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		fill(w, r, "0123456789abcde\n")
	})
	m.HandleFunc("/json", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, map[string]any{"name": "webserver", "list": []int{1, 2, 3}, "nested": map[string]bool{"deep": true}})
	})
	m.HandleFunc("/gzip", packed)
	m.HandleFunc("/latin1", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=ISO-8859-1")
		_, _ = io.WriteString(w, "caf\xe9 \x80 na\xefve")
	})
	m.HandleFunc("/redirect", redirect)
	m.HandleFunc("/flaky/{key}/{n}", func(w http.ResponseWriter, r *http.Request) {
		count, again := s.again(r)
		if again {
			w.Header().Set("Retry-After", "0")
			answer(w, http.StatusServiceUnavailable, map[string]int{"count": count})
			return
		}
		answer(w, http.StatusOK, map[string]int{"count": count})
	})
	m.HandleFunc("/drop/{key}/{n}", func(w http.ResponseWriter, r *http.Request) {
		count, again := s.again(r)
		if again {
			_, _ = io.Copy(io.Discard, r.Body)
			panic(http.ErrAbortHandler)
		}
		answer(w, http.StatusOK, map[string]int{"count": count})
	})
	m.HandleFunc("/cut/{key}/{n}", func(w http.ResponseWriter, r *http.Request) {
		count, again := s.again(r)
		if again {
			w.Header().Set("Content-Length", "1000")
			plain(w, "a part")
			return
		}
		answer(w, http.StatusOK, map[string]int{"count": count})
	})
	m.HandleFunc("/refuse", func(w http.ResponseWriter, r *http.Request) {
		if after := r.URL.Query().Get("after"); after != "" {
			w.Header().Set("Retry-After", after)
		}
		code := number(r.URL.Query().Get("code"), http.StatusServiceUnavailable)
		answer(w, code, map[string]int{"status": code})
	})
	m.HandleFunc("/auth", auth)
	s.hostile(m)
	return m
}

// again counts a request for the path's key, and reports whether it is among the first n.
func (s *Server) again(r *http.Request) (count int, again bool) {
	count = s.count(r.PathValue("key"))
	return count, count <= number(r.PathValue("n"), 0)
}

func echo(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, "the body could not be read", http.StatusBadRequest)
		return
	}
	headers := map[string]string{}
	for name, values := range r.Header {
		headers[strings.ToLower(name)] = values[0]
	}
	answer(w, http.StatusOK, map[string]any{
		"method": r.Method, "path": r.URL.Path, "query": r.URL.RawQuery, "host": r.Host, "headers": headers, "body": string(body),
	})
}

func status(w http.ResponseWriter, r *http.Request) {
	n := number(r.PathValue("n"), http.StatusBadRequest)
	if n < 200 || n > 999 {
		n = http.StatusBadRequest
	}
	answer(w, n, map[string]int{"status": n})
}

func redirect(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Location", r.URL.Query().Get("to"))
	w.WriteHeader(number(r.URL.Query().Get("code"), http.StatusFound))
}

func packed(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		plain(w, "not packed\n")
		return
	}
	w.Header().Set("Content-Encoding", "gzip")
	z := gzip.NewWriter(w)
	_, _ = io.WriteString(z, "packed\n")
	_ = z.Close()
}

func auth(w http.ResponseWriter, r *http.Request) {
	token, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	key := r.Header.Get("X-API-Key")
	switch {
	case bearer && token != "":
		answer(w, http.StatusOK, map[string]string{"kind": "bearer", "value": token})
	case key != "":
		answer(w, http.StatusOK, map[string]string{"kind": "api_key", "value": key})
	default:
		answer(w, http.StatusUnauthorized, map[string]string{"error": "no credentials"})
	}
}

func plain(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, text)
}

func answer(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value)
}

// fill writes n bytes, with the n of the path.
func fill(w http.ResponseWriter, r *http.Request, pattern string) {
	n := number(r.PathValue("n"), 0)
	w.Header().Set("Content-Length", fmt.Sprint(n))
	block := strings.Repeat(pattern, 64<<10/len(pattern))
	for n > 0 {
		k := min(n, len(block))
		if _, err := io.WriteString(w, block[:k]); err != nil {
			return
		}
		n -= k
	}
}

func number(text string, otherwise int) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return otherwise
	}
	return n
}
