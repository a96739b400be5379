package mcpclient

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// conversation lists the tools of a server in this process, which serve is: it gets each request for the list, and the function that
// writes to the client. It returns how many tools there are, or the fault, and how long the list took.
func conversation(t *testing.T, serve func(id string, page int, say func(format string, args ...any))) (tools int, f *fault.Fault, took time.Duration) {
	t.Helper()
	in, stdin := io.Pipe()
	stdout, out := io.Pipe()
	served := make(chan struct{})
	go func() {
		defer close(served)
		page := 0
		say := func(format string, args ...any) { _, _ = fmt.Fprintf(out, format, args...) }
		for lines := bufio.NewScanner(in); lines.Scan(); {
			switch request := gjson.ParseBytes(lines.Bytes()); request.Get("method").Str {
			case "initialize":
				say(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":%q,"capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}`+"\n", request.Get("id").Raw, handshakeVersion)
			case "tools/list":
				page++
				serve(request.Get("id").Raw, page, say)
			}
		}
	}()
	s := &Session{name: "s", log: slog.New(slog.DiscardHandler), active: newActiveCalls()}
	s.calls, s.cancelCalls = context.WithCancelCause(t.Context())
	s.stdio = newStdioConn("s", stdin, stdout, s.log)
	s.stdio.received = inbox{s}.received
	var err error
	if s.client, err = mcp.NewClient(&mcp.Implementation{Name: "c", Version: "1"}, nil).Connect(t.Context(), s.stdio, &mcp.ClientSessionOptions{ProtocolVersion: handshakeVersion}); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = in.Close()
		_ = out.Close()
		_ = s.client.Close()
		<-served
	}()
	began := time.Now()
	list, err := s.Tools(t.Context())
	if took = time.Since(began); err != nil {
		return 0, asFault(t, err), took
	}
	return len(list), nil, took
}

// A server that goes on with its list may take its time; one that is silent, or sends something else, may not.
func TestTheSilenceOfAServerThatLists(t *testing.T) {
	const more = `{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"t%d"}],"nextCursor":"%d"}}` + "\n"
	const last = `{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"last"}]}}` + "\n"
	part := strings.Repeat(" ", silencePart)
	for name, c := range map[string]struct {
		serve func(id string, page int, say func(string, ...any))
		tools int
		fault fault.Type
		took  time.Duration
	}{
		"a page every four seconds": {func(id string, page int, say func(string, ...any)) {
			time.Sleep(4 * time.Second)
			if page < 10 {
				say(more, id, page, page)
			} else {
				say(last, id)
			}
		}, 10, "", 40 * time.Second},
		"parts of a page": {func(id string, _ int, say func(string, ...any)) {
			for range 20 {
				say("%s", part)
				time.Sleep(4 * time.Second)
			}
			say(last, id)
		}, 1, "", 80 * time.Second},
		"silence": {func(string, int, func(string, ...any)) {}, 0, fault.Timeout, listSilence},
		"silence after a page": {func(id string, page int, say func(string, ...any)) {
			if page == 1 {
				time.Sleep(4 * time.Second)
				say(more, id, page, page)
			}
		}, 0, fault.Timeout, 4*time.Second + listSilence},
		"a byte now and then": {func(_ string, _ int, say func(string, ...any)) {
			for range 100 {
				say(" ")
				time.Sleep(time.Second)
			}
		}, 0, fault.Timeout, listSilence},
		"something else": {func(_ string, _ int, say func(string, ...any)) {
			for range maxUnasked/silencePart + 1 {
				say("%s\n", part)
			}
		}, 0, fault.TooLarge, listSilence / 20},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tools, f, took := conversation(t, c.serve)
				got := fault.Type("")
				if f != nil {
					got = f.Type
				}
				if tools != c.tools || got != c.fault || took != c.took {
					t.Errorf("got %d tools and %v after %s, want %d and a fault of type %q after %s", tools, f, took, c.tools, c.fault, c.took)
				}
			})
		})
	}
}
