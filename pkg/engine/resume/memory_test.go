package resume_test

import (
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/engine/resume"
	"github.com/pflow-suite/pflow/pkg/fault"
)

// TestStreamsThatAreNoRun holds that streams which no run has written are refused, and not taken for a run without nodes.
func TestStreamsThatAreNoRun(t *testing.T) {
	const started = `{"v":1,"seq":1,"event":"run_started","run":"r1","time":"2026-01-02T03:04:05Z","workflow":{"name":"w"},"nodes":["a"]}` + "\n"
	for name, stream := range map[string]string{
		"nothing":     "",
		"no start":    `{"v":1,"seq":2,"event":"node_started","run":"r1","time":"2026-01-02T03:04:05Z","node":"a"}` + "\n",
		"no workflow": strings.Replace(started, `"workflow":{"name":"w"},`, "", 1),
		"two runs":    started + started,
	} {
		if _, err := resume.Read(strings.NewReader(stream), nil); err == nil || fault.From(err).Type != fault.Usage {
			t.Errorf("%s: %v", name, err)
		}
	}
	if c, err := resume.Read(strings.NewReader(started), nil); err != nil || c.Run != "r1" {
		t.Errorf("%+v, %v", c, err)
	}
}
