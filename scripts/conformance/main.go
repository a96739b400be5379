// Conformance runs the server of internal/conformance for the protocol's conformance suite, as pflow-serve http serves. It prints its
// URL as one line and serves until its standard input ends.
package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"

	"github.com/pflow-suite/pflow/internal/conformance"
	"github.com/pflow-suite/pflow/pkg/mcp/mcphttp"
)

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(1)
	}
}

func run(in io.Reader, out io.Writer) error {
	server, err := conformance.New()
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	listener, err := mcphttp.Listen(ctx, "127.0.0.1:0")
	if err != nil {
		return err
	}
	client := &mcphttp.Client{Server: server}
	handler := mcphttp.New(mcphttp.Config{
		Name: "conformance", Version: "1.0.0",
		Client: func(*http.Request) (*mcphttp.Client, error) { return client, nil },
		Health: func(*http.Request) (*mcphttp.Client, error) { return client, nil },
	})
	guard := &mcphttp.Guard{Host: "127.0.0.1"}
	if _, err := fmt.Fprintf(out, "http://%s\n", listener.Addr()); err != nil {
		return err
	}
	go func() {
		_, _ = io.Copy(io.Discard, in)
		stop()
	}()
	err = mcphttp.Serve(ctx, listener, guard.Handler(handler), handler.Drain(0), slog.New(slog.DiscardHandler))
	if ctx.Err() != nil {
		return nil
	}
	return err
}
