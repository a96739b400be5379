package suite

import (
	"bytes"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/internal/velofluxserver"
)

// lateManager returns a place with a Manager that carries creates out after delay, when their client has given them up.
func lateManager(t *testing.T, delay time.Duration) (*place, *velofluxserver.Server) {
	t.Helper()
	p, s := fluxPlace(t)
	s.On("POST", "/pipelines", velofluxserver.Fault{Delay: delay, Deaf: true})
	p.env = append(p.env, "VELOFLUX_TIMEOUT_SECS=2")
	return p, s
}

// A verification whose create times out names its pipeline, and the program does not end before it is deleted: neither a
// call nor a server, at the end of its input or after a signal.
func TestTimedOutVerificationsLeaveNothing(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"call", "end of input", "signal"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			const late = 5 * time.Second
			p, s := lateManager(t, late)
			began := time.Now()
			switch how {
			case "call":
				out := p.run("veloflux-mcp", "call", "pipelines.verify", "sql=SELECT a FROM user")
				e := gjson.Get(out.stdout, "error")
				if id := e.Get("details.temporary_pipeline").Str; out.exit != 124 || e.Get("error_code").Str != "timeout" || id == "" || !strings.Contains(out.stderr, id) {
					t.Errorf("%s", out)
				}
			case "end of input":
				c := p.connect("veloflux-mcp", "--stdio")
				c.request("pipelines.verify", `{"sql":"SELECT a FROM user"}`)
				if answer, failed := c.answer(); !failed || !strings.Contains(fmt.Sprint(answer["details"]), "temporary_pipeline") {
					t.Errorf("%v", answer)
				}
				c.leave()
			case "signal":
				c := p.connect("veloflux-mcp", "--stdio")
				c.request("pipelines.verify", `{"sql":"SELECT a FROM user"}`)
				c.answer()
				_ = c.cmd.Process.Signal(syscall.SIGTERM)
				_ = c.cmd.Wait()
			}
			if left, took := s.Pipelines(), time.Since(began); len(left) > 0 || took < late {
				t.Errorf("after %s, left behind: %v", took, left)
			}
		})
	}
}

// A second signal ends a call at once, and names the pipeline that nothing deletes then.
func TestASecondSignalNamesWhatIsLeft(t *testing.T) {
	t.Parallel()
	p, s := fluxPlace(t)
	s.On("POST", "/pipelines", velofluxserver.Fault{Drop: true}) // it is created, without an answer
	s.On("DELETE", "/pipelines/{id}", velofluxserver.Fault{Status: 503, Body: "not now"})
	cmd := p.command("veloflux-mcp", "call", "pipelines.verify", "sql=SELECT a FROM user")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.eventually("a delete was refused", func() bool {
		requests := s.Requests()
		return len(requests) > 0 && requests[len(requests)-1].Method == "DELETE"
	})
	began := time.Now()
	_ = cmd.Process.Signal(syscall.SIGINT)
	p.eventually("the second signal is not lost in the first", func() bool {
		return cmd.Process.Signal(syscall.SIGTERM) != nil || time.Since(began) > 200*time.Millisecond
	})
	_ = cmd.Wait()
	left := s.Pipelines()
	if code := cmd.ProcessState.ExitCode(); code != 130 && code != 143 || time.Since(began) > patience || len(left) != 1 || !strings.Contains(stderr.String(), left[0]) {
		t.Errorf("exit status %d after %s, left behind: %q\n%s", code, time.Since(began), left, &stderr)
	}
}

// pipelines.create deletes nothing: an answer that does not come is reported with the id.
func TestATimedOutCreateIsNamed(t *testing.T) {
	t.Parallel()
	p, s := lateManager(t, 5*time.Second)
	out := p.run("veloflux-mcp", "call", "pipelines.create", "id=mine", "sql=SELECT a FROM user", `sinks:=[{"type":"nop"}]`)
	details := gjson.Get(out.stdout, "error.details")
	if out.exit != 124 || !details.Get("maybe_created").Bool() || details.Get("pipeline_id").Str != "mine" {
		t.Errorf("%s", out)
	}
	p.eventually("it is created", func() bool { return strings.Join(s.Pipelines(), " ") == "mine" })
}
