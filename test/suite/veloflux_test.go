package suite

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/internal/velofluxserver"
)

// fluxPlace returns a place with a Manager.
func fluxPlace(t *testing.T) (*place, *velofluxserver.Server) {
	t.Helper()
	p, s := newPlace(t), velofluxserver.Start(t)
	p.env = append(p.env, "VELOFLUX_MANAGER_URL="+s.URL)
	return p, s
}

// TestVerificationsThatAreKilledLeaveNothing kills a server at a random instant of each of 100 verifications. What they have
// left is removed at the next start.
func TestVerificationsThatAreKilledLeaveNothing(t *testing.T) {
	t.Parallel()
	p, s := fluxPlace(t)
	s.On("POST", "/pipelines", velofluxserver.Fault{Delay: time.Millisecond, DelayAfter: time.Millisecond})
	s.On("GET", "/pipelines/{id}/explain", velofluxserver.Fault{Delay: time.Millisecond})
	left := 0
	for i := range 100 {
		c := p.connect("veloflux-mcp", "--stdio")
		c.request("pipelines.verify", `{"sql":"SELECT a FROM user"}`)
		<-time.After(rand.N(8 * time.Millisecond)) // at a random instant
		_ = c.cmd.Process.Signal(syscall.SIGKILL)
		_ = c.cmd.Wait()
		if i == 50 {
			p.run("veloflux-mcp", "call", "pipelines.create", "id=kept", "sql=SELECT a FROM user", `sinks:=[{"type":"nop"}]`)
		}
		left = max(left, len(s.Pipelines()))
	}
	if left == 0 {
		t.Error("no kill came in mid-verification: the test shows nothing")
	}
	c := p.connect("veloflux-mcp", "--stdio")
	p.eventually("what was left is swept", func() bool { return strings.Join(s.Pipelines(), " ") == "kept" })
	c.leave()
}

// A server that starts does not remove what another server uses for its verification.
func TestServersThatLiveAreNotSwept(t *testing.T) {
	t.Parallel()
	p, s := fluxPlace(t)
	looked := make(chan struct{})
	s.On("GET", "/pipelines/{id}/explain", velofluxserver.Fault{Until: looked})
	c := p.connect("veloflux-mcp", "--stdio")
	c.request("pipelines.verify", `{"sql":"SELECT a FROM user"}`)
	p.eventually("the pipeline is there", func() bool { return len(s.Pipelines()) == 1 })
	other := p.connect("veloflux-mcp", "--stdio", "--header", "X-Who: other")
	p.eventually("the other has swept once and looks again", func() bool {
		looks := 0
		for _, r := range s.Requests() {
			if r.Method+" "+r.Path == "GET /pipelines" && r.Header.Get("X-Who") == "other" {
				looks++
			}
		}
		return looks > 1
	})
	other.leave()
	close(looked)
	if answer, failed := c.answer(); failed {
		t.Errorf("the verification was swept away: %v", answer)
	}
	if left := s.Pipelines(); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	c.leave()
}

// At the end of input, open requests are answered and cleaned up, and the program ends with status 0. A signal also leaves
// nothing behind.
func TestTheEndOfInputWaitsForVerifications(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"end of input", "signal", "cancelled"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			p, s := fluxPlace(t)
			s.On("POST", "/pipelines", velofluxserver.Fault{DelayAfter: 200 * time.Millisecond})
			c := p.connect("veloflux-mcp", "--stdio")
			id := c.request("pipelines.verify", `{"sql":"SELECT a FROM user"}`)
			p.eventually("the pipeline is there", func() bool { return len(s.Pipelines()) == 1 })
			switch how {
			case "end of input":
				_ = c.stdin.Close()
				if answer, failed := c.answer(); failed {
					t.Errorf("%v", answer)
				}
				c.leave()
			case "signal":
				_ = c.cmd.Process.Signal(syscall.SIGTERM)
				_ = c.cmd.Wait()
				if status := c.cmd.ProcessState.ExitCode(); status != 143 {
					t.Errorf("exit status %d", status)
				}
			case "cancelled":
				c.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, id))
				_ = c.stdin.Close()
				_ = c.cmd.Wait()
			}
			if left := s.Pipelines(); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// A workflow uses the tools of veloflux-mcp: it asks, verifies wrong SQL and verifies correct SQL.
func TestFluxToolsAsNodeTypes(t *testing.T) {
	t.Parallel()
	p, s := fluxPlace(t)
	p.must("pflow-sync", "add", "flux", "--env", "VELOFLUX_MANAGER_URL="+s.URL, "--", "veloflux-mcp", "--stdio", "--tool-names", "underscore")
	p.must("pflow-sync", "sync", "flux")
	p.draft("ask", `{"nodes":[
		{"id":"streams","type":"mcp-flux-streams-list","params":{}},
		{"id":"wrong","type":"mcp-flux-pipelines-verify","params":{"sql":"SELCT a FROM user"}},
		{"id":"right","type":"mcp-flux-pipelines-verify","params":{"sql":"SELECT a FROM ${streams.streams[2].name}"}}],
		"edges":[{"from":"streams","to":"wrong"},{"from":"wrong","to":"right","action":"error"}],
		"outputs":{"wrong":{"source":"${wrong.error}"},"plan":{"source":"${right.pretty}"}}}`)
	out := p.run("pflow-exec", "run", "ask", "--format", "json")
	got := gjson.Parse(out.stdout)
	if !strings.Contains(got.Get("outputs.wrong").String(), "found: SELCT") || !strings.HasPrefix(got.Get("outputs.plan").String(), "Logical Plan") {
		t.Errorf("%s", out)
	}
	if left := s.Pipelines(); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// Several processes write their lines to one trace file, which other users cannot read.
func TestFluxTraceOfSeveral(t *testing.T) {
	t.Parallel()
	p, _ := fluxPlace(t)
	for _, args := range [][]string{{"call", "streams.list"}, {"read", "veloflux://streams/snapshot"}, {"call", "no.such"}} {
		p.run("veloflux-mcp", args...)
	}
	path := filepath.Join(p.home, "traces", "veloflux.ndjson")
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v %v", info, err)
	}
	b, err := os.ReadFile(path)
	if err != nil || strings.Count(string(b), "\n") != 3 || !gjson.ValidBytes(b[:strings.Index(string(b), "\n")]) {
		t.Errorf("%s %v", b, err)
	}
}
