package node

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// A process is stopped at the limit of a stream, or at that of the run, whichever it reaches first. What it writes after that
// is dropped.
func TestProcessOutputIsBounded(t *testing.T) {
	for name, c := range map[string]struct {
		stream, run int64
		most        int64 // of a caller that reads JSON
		stored      string
		says        string
	}{
		"stream":      {stream: 5, run: 100, stored: "abcde", says: "stream"},
		"run":         {stream: 7, run: 3, stored: "abc", says: "run"},
		"caller":      {stream: 7, run: 100, most: 4, stored: "abcd", says: "caller"},
		"lower":       {stream: 2, run: 100, most: 4, stored: "ab", says: "stream"},
		"at a border": {stream: 4, run: 100, stored: "abcd", says: "stream"},
		"enough":      {stream: 8, run: 8, stored: "abcdefgh"},
	} {
		ctx, stop := context.WithCancelCause(t.Context())
		var stored, log bytes.Buffer
		left := c.run
		on := &Task{StreamLimit: c.stream, Count: func(n int) (int, *fault.Fault) {
			if int64(n) > left {
				return int(left), fault.New(fault.TooLarge, "run")
			}
			left -= int64(n)
			return n, nil
		}}
		w := on.output("The command", stop, &stored, nil, &log)
		if w.over.Message == "" || w.over.Details["setting"] != "runtime.max_output" || w.over.Details["limit"] != c.stream {
			t.Errorf("%s: %+v", name, w.over)
		}
		w.over = fault.New(fault.TooLarge, "stream")
		if c.most > 0 {
			w.limit(c.most, fault.New(fault.TooLarge, "caller"))
		}
		for _, s := range []string{"ab", "cd", "ef", "gh"} {
			if n, err := w.Write([]byte(s)); n != 2 || err != nil {
				t.Error(n, err)
			}
		}
		if stored.String() != c.stored || log.String() != c.stored {
			t.Errorf("%s: stored %q, logged %q, want %q", name, stored.String(), log.String(), c.stored)
		}
		f := exceeded(&processOutput{}, w)
		if (f != nil) != (c.says != "") || f != nil && (f.Message != c.says || !errors.Is(context.Cause(ctx), f)) {
			t.Errorf("%s: %v, stopped by %v, want %q", name, f, context.Cause(ctx), c.says)
		}
		stop(nil)
	}
}
