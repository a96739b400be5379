// Velofluxserver runs the veloFlux Manager of internal/velofluxserver for tests that are not written in Go. It prints its
// URL as one line and serves until its standard input ends.
//
//	GET /__requests
//
// returns the requests so far, in order, as [{"method","path","body"}]. Requests for /__requests are not among them.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"

	"github.com/pflow-suite/pflow/internal/velofluxserver"
)

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "velofluxserver:", err)
		os.Exit(1)
	}
}

func run(in io.Reader, out io.Writer) error {
	manager := velofluxserver.New()
	defer manager.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.RequestURI == "/__requests" {
			answerRequests(w, manager.Requests())
			return
		}
		manager.ServeHTTP(w, r)
	}))
	defer server.CloseClientConnections()
	if _, err := fmt.Fprintln(out, server.URL); err != nil {
		return err
	}
	_, err := io.Copy(io.Discard, in)
	return err
}

// request is a received request in the output.
type request struct {
	Method string `json:"method"`
	Path   string `json:"path"`
	Body   string `json:"body"`
}

func answerRequests(w http.ResponseWriter, came []velofluxserver.Request) {
	shown := make([]request, 0, len(came))
	for _, r := range came {
		shown = append(shown, request{r.Method, r.Path, string(r.Body)})
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(shown)
}
