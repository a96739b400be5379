package suite

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// web starts a protocolServer over HTTP, and configures and syncs it as the server p.
func (p *place) web(mode string) {
	p.Helper()
	self, err := os.Executable()
	if err != nil {
		p.Fatal(err)
	}
	cmd := withTest(exec.CommandContext(p.Context(), self))
	cmd.Env = append(os.Environ(), protocolServer+"="+mode, "CALLS="+p.dir+"/calls")
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	url, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		p.Fatal(err)
	}
	p.must("pflow-sync", "add", "p", strings.TrimSpace(url))
	p.must("pflow-sync", "sync", "p")
	p.must("pflow-sync", "call", "p", "lock")
}

// TestRevisionsAndTransports runs one workflow with each revision of the protocol over each transport that it has: it keeps state
// from call to call, and reports progress; its server logs, gains a tool, and asks.
func TestRevisionsAndTransports(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mode string
		// speaks is the revision that the session speaks.
		speaks string
		// asks is false if the server cannot ask: without a session it gets no answer.
		asks bool
	}{
		{"stdio 2024-11-05", "2024-11-05", true},
		{"stdio 2025-03-26", "2025-03-26", true},
		{"stdio 2025-06-18", "2025-06-18", true},
		{"stdio 2025-11-25", "2025-11-25", true},
		{"stdio 2026-07-28", "2026-07-28", true},
		{"stdio", "2025-11-25", true}, // a server with all revisions
		{"stateful 2025-03-26", "2025-03-26", true},
		{"stateful 2025-06-18", "2025-06-18", true},
		{"stateful 2025-11-25", "2025-11-25", true},
		{"stateful", "2025-11-25", true},
		{"stateless 2025-11-25", "2025-11-25", false},
		{"stateless 2026-07-28", "2026-07-28", true},
	} {
		t.Run(c.mode, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.write("calls.unlocked", "") // so that the type is known
			if strings.HasPrefix(c.mode, "stdio") {
				p.protocol(c.mode, "SECRET=hunter2-hunter2")
			} else {
				p.web(c.mode)
			}
			if err := os.Remove(p.dir + "/calls.unlocked"); err != nil {
				t.Fatal(err)
			}
			if spoken := gjson.Get(p.must("pflow-sync", "doctor", "p"), "protocol").Str; spoken != c.speaks {
				t.Errorf("speaks %q", spoken)
			}
			p.write("w.json", `{"nodes":[{"id":"one","type":"mcp-p-count"},{"id":"two","type":"mcp-p-count"},{"id":"log","type":"mcp-p-log"},{"id":"unlock","type":"mcp-p-unlock"},{"id":"unlocked","type":"mcp-p-unlocked"},{"id":"make","type":"mcp-p-create"}],
				"edges":[{"from":"one","to":"two"},{"from":"two","to":"log"},{"from":"log","to":"unlock"},{"from":"unlock","to":"unlocked"},{"from":"unlocked","to":"make"}],
				"outputs":{"counted":{"source":"${one.result} ${two.result}"},"unlocked":{"source":"${unlocked.result}"},"made":{"source":"${make.result}"}}}`)
			o := p.run("pflow-exec", "run", "w.json", "--format", "json")
			events := p.must("pflow-exec", "events", "last")
			if n := len(gjson.Get(events, `..#(event=="node_progress")#`).Array()); n != 2 {
				t.Errorf("%d reports of progress", n)
			}
			if log := p.must("pflow-exec", "logs", "last", "log"); !strings.Contains(log, "[warning] disk: ") || !strings.Contains(log, "it is full") || strings.Contains(log, "not asked for") || strings.HasPrefix(c.mode, "stdio") && strings.Contains(log, "hunter2") {
				t.Errorf("the log is %q", log)
			}
			if !c.asks {
				if o.exit != 1 || gjson.Get(o.stdout, "error.node").Str != "make" {
					t.Error(o)
				}
				return
			}
			if o.exit != 4 {
				t.Fatal(o)
			}
			o = p.run("pflow-exec", "resume", "last", "--approve", `{"repo":"mine"}`, "--format", "json")
			if got := gjson.Get(o.stdout, "outputs"); o.exit != 0 || got.Get("counted").Str != "1 2" || got.Get("unlocked").Raw != "42" || got.Get("made").Str != `accept {"repo":"mine","stars":3}` {
				t.Error(o)
			}
		})
	}
}
