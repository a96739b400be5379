package suitetools

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
	"github.com/pflow-suite/pflow/pkg/mcp/suitetools/suite"
)

// TestEndlessOutputIsEnded: a command that prints without end, or a line without end, is ended with a fault.
func TestEndlessOutputIsEnded(t *testing.T) {
	for name, script := range map[string]string{
		"for ever":           `yes '{"a":1}'`,
		"and ends by itself": `head -c 70000000 /dev/zero`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFakes(t)
			f.Program("pflow-lib", script)
			a, r := f.call(f.front(), "describe_workflow", `{"name":"w"}`)
			if kind, message := faultOf(a); !r.IsError || kind != "too_large" || !strings.Contains(message, "pflow-lib") || len(r.Structured) > 1000 {
				t.Errorf("%.300s", r.Structured)
			}
		})
	}
	t.Run("in a line", func(t *testing.T) {
		t.Parallel()
		f := newFakes(t)
		f.Program("pflow-exec", `yes | tr -d '\n'`)
		_, err := f.suite.Run(t.Context(), suite.Command{Program: "pflow-exec", Long: true, OnLine: func([]byte) { t.Error("a line") }})
		if bad := fault.From(err); bad == nil || bad.Type != fault.TooLarge {
			t.Error(err)
		}
	})
	t.Run("in many lines", func(t *testing.T) {
		t.Parallel()
		f := newFakes(t)
		f.Program("pflow-exec", `yes "$(head -c 999 /dev/zero | tr '\0' x)" | head -c 70000000`)
		lines := 0
		if _, err := f.suite.Run(t.Context(), suite.Command{Program: "pflow-exec", Long: true, OnLine: func([]byte) { lines++ }}); err != nil || lines != 70_000 {
			t.Errorf("%d lines, %v", lines, err)
		}
	})
	t.Run("as a version", func(t *testing.T) {
		t.Parallel()
		f := newFakes(t)
		f.At(f.Dir, "pflow-lib", `1; yes`, `echo '{}'`)
		if _, r := f.call(f.front(), "describe_workflow", `{"name":"w"}`); r.IsError {
			t.Errorf("%s", r.Structured)
		}
	})
}

// TestEndlessOutputOfACallThatIsCancelled: the call is answered as a cancelled one.
func TestEndlessOutputOfACallThatIsCancelled(t *testing.T) {
	f := newFakes(t)
	f.Program("pflow-exec", `while sleep 0.01; do echo '{}'; done`)
	ctx, end := context.WithCancelCause(t.Context())
	time.AfterFunc(20*time.Millisecond, func() { end(&mcpserver.Ended{By: mcpserver.Cancelled, Err: errors.New("enough")}) })
	_, err := f.suite.Run(ctx, suite.Command{Program: "pflow-exec"})
	if e, ok := errors.AsType[*mcpserver.Ended](err); !ok || e.By != mcpserver.Cancelled {
		t.Error(err)
	}
}
