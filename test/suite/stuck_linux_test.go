package suite

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The first signal ends a program also while it waits for a reader of its standard output that does not read. A run ends in order.
func TestASignalEndsAProgramWithAStuckReader(t *testing.T) {
	t.Parallel()
	needs(t, "python3")
	p := newPlace(t)
	long := strings.Repeat("x", 200_000)
	items := strings.TrimSuffix(strings.Repeat("1,", 3000), ",")
	p.write("home/workflows/long.json", `{"description":"`+long+`","nodes":[{"id":"a","type":"echo","params":{"message":"x"}}]}`)
	p.write("items.json", `{"nodes":[{"id":"a","type":"echo","params":{"message":"`+strings.Repeat("y", 500)+`"},"batch":{"items":[`+items+`]}}]}`)
	p.write("log.json", chain("yes | head -c 300000"))
	id := fmt.Sprint(p.last(p.must("pflow-exec", "run", "log.json", "--format", "ndjson"))["run"])
	p.must("pflow-sync", "add", "size", "--", "python3", p.write("size.py", mcpOfSize))
	var requests strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&requests, `{"jsonrpc":"2.0","id":%d,"method":"tools/list"}`+"\n", i+2)
	}
	p.write("requests", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`+requests.String())
	p.write("big.json", `{"v":1,"params":{"filter":".","input":"`+long+`"}}`)
	for _, c := range []struct{ line, stdin string }{
		{"pflow-exec run items.json --format ndjson", ""}, {"pflow-exec logs " + id, ""}, {"pflow-exec show " + id + " --max-output-chars 0 --format json", ""},
		{"pflow-lib show long", ""}, {"pflow-sync call size give n:=300000", ""},
		{"pflow-serve", "requests"}, {"pflow-node-jq", "big.json"},
	} {
		t.Run(c.line, func(t *testing.T) {
			t.Parallel()
			p := &place{T: t, dir: p.dir, home: p.home, env: p.env}
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _, _ = r.Close(), w.Close() }()
			args := strings.Fields(c.line)
			cmd := p.command(args[0], args[1:]...)
			cmd.Stdout, cmd.Stderr = w, &bytes.Buffer{}
			if c.stdin != "" {
				in, err := os.Open(p.dir + "/" + c.stdin)
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = in.Close() }()
				cmd.Stdin = in
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			p.eventually("the pipe is full", func() bool {
				n, err := unix.Poll([]unix.PollFd{{Fd: int32(w.Fd()), Events: unix.POLLOUT}}, 0)
				return err == nil && n == 0
			})
			began := time.Now()
			_ = cmd.Process.Signal(syscall.SIGTERM)
			killer := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
			defer killer.Stop()
			if _ = cmd.Wait(); cmd.ProcessState.ExitCode() != 143 {
				t.Errorf("%s after %s, standard error %s", cmd.ProcessState, time.Since(began), cmd.Stderr)
			}
		})
	}
}
