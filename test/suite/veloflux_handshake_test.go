package suite

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// A client with Content-Length headers may leave the handshake out, or begin with a ping. One that sends lines may not.
func TestFluxWithoutAHandshake(t *testing.T) {
	t.Parallel()
	const (
		ping       = `{"jsonrpc":"2.0","id":"p","method":"ping"}`
		list       = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"pipelines.list","arguments":{}}}`
		read       = `{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"veloFlux://streams/snapshot"}}`
		initialize = `{"jsonrpc":"2.0","id":3,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`
	)
	for _, tc := range []struct {
		name    string
		framed  bool
		send    []string
		want    []string // in the output
		without string   // not in the output
	}{
		{"a call", true, []string{list, read}, []string{`"id":1,"result":`, `"id":2,"result":`}, "handshake"},
		{"a ping first", true, []string{ping, list}, []string{`"id":"p","result":`, `"id":1,"result":`}, "handshake"},
		{"a handshake", true, []string{ping, initialize, list}, []string{`"protocolVersion":"2024-11-05"`, `"id":1,"result":`}, `"error"`},
		{"lines", false, []string{list}, []string{`"id":1,"error":{"code":-32600`}, `"result"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p, _ := fluxPlace(t)
			var in, out bytes.Buffer
			for _, message := range tc.send {
				if tc.framed {
					_, _ = fmt.Fprintf(&in, "Content-Length: %d\r\n\r\n%s", len(message), message)
				} else {
					_, _ = fmt.Fprintln(&in, message)
				}
			}
			cmd := p.command("veloflux-mcp", "--stdio")
			cmd.Stdin, cmd.Stdout = &in, &out
			if err := cmd.Run(); err != nil {
				t.Error(err)
			}
			for _, want := range tc.want {
				if !strings.Contains(out.String(), want) {
					t.Errorf("no %s in %s", want, &out)
				}
			}
			if strings.Contains(out.String(), tc.without) {
				t.Errorf("%s in %s", tc.without, &out)
			}
		})
	}
}
