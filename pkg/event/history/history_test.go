package history

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pflow-suite/pflow/pkg/event"
)

// stream returns a stream in which each event comes one second after the one before.
func stream(lines ...string) string {
	var b strings.Builder
	for i, line := range lines {
		fmt.Fprintf(&b, `{"v":1,"seq":%d,"run":"r1","time":"2026-01-01T00:00:%02dZ",%s}`+"\n", i+1, i, line)
	}
	return b.String()
}

func read(t *testing.T, lines ...string) *Run {
	t.Helper()
	r, err := Read(strings.NewReader(stream(lines...)))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

const began = `"event":"run_started","workflow":{"name":"w","digest":"d"},"nodes":["a","b","c"]`

func TestNodesAreInTheirStates(t *testing.T) {
	started := func(more string) string { return `"event":"node_started","node":"a","type":"shell"` + more }
	retried := `"event":"node_failed","node":"a","attempt":1,"will_retry":true,"error":{"type":"execution_error","message":"no"}`
	for name, c := range map[string]struct {
		lines []string
		state State
		more  string
	}{
		"no event":          {nil, "", "0s []"},
		"runs":              {[]string{started(`,"attempt":1`), `"event":"run_unheard_of","node":"a"`}, Running, "1s [1]"},
		"completed":         {[]string{started(`,"attempt":1`), `"event":"node_completed","node":"a","action":"default"`}, Completed, "1s [1]"},
		"tried again":       {[]string{started(`,"attempt":1`), retried}, Running, "1s [1!]"},
		"to be tried again": {[]string{started(`,"attempt":1`), strings.Replace(retried, `true`, `true,"retry_in_ms":2500`, 1)}, Running, "1s [1!+2.5s]"},
		"the second try": {
			[]string{started(`,"attempt":1`), retried, started(`,"attempt":2`), `"event":"node_completed","node":"a"`}, Completed, "3s [1! 2]",
		},
		"failed": {
			[]string{started(`,"attempt":1`), `"event":"node_failed","node":"a","will_retry":false,"handled":true,"error":{"type":"timeout","message":"late"}`},
			Failed, "1s [1!] handled late",
		},
		"failed for good": {
			[]string{started(`,"attempt":1`), retried, started(`,"attempt":2`), `"event":"node_failed","node":"a","attempt":2,"will_retry":false,"duration_ms":7,"error":{"type":"timeout","message":"late"}`},
			Failed, "3s [1! 2!] late",
		},
		"a loop": {
			[]string{started(`,"attempt":1,"iteration":1`), `"event":"iteration_completed","node":"a","iteration":1`, started(`,"attempt":1,"iteration":2`)},
			Running, "2s [1 1] iteration 2",
		},
		"a loop resumed": {
			[]string{`"event":"iteration_completed","node":"a","iteration":1,"from_run":"r0"`, started(`,"attempt":1,"iteration":2`)},
			Running, "0s [0<r0 1] iteration 2",
		},
		"reused":            {[]string{`"event":"node_reused","node":"a","from_run":"r0"`}, Reused, "0s [] from r0"},
		"reused, and again": {[]string{`"event":"node_reused","node":"a","from_run":"r0"`, started(`,"attempt":1`), started("")}, Running, "1s [1 0] from r0"},
		"asks":              {[]string{`"event":"approval_requested","node":"a","question":"Well?"`}, Waiting, "0s [] Well?"},
		"answered":          {[]string{`"event":"approval_requested","node":"a","question":"Well?"`, `"event":"approval_resolved","node":"a","answer":"yes"`}, Running, "1s [] Well? yes"},
		"skipped":           {[]string{`"event":"node_skipped","node":"a","reason":"no way"`}, Skipped, "0s [] no way"},
		"cancelled":         {[]string{started(""), `"event":"node_cancelled","node":"a","cause":"b"`}, Cancelled, "1s [0] b"},
		"a batch": {
			[]string{
				started(`,"items":3`), `"event":"item_completed","node":"a","item":2,"duration_ms":5`,
				`"event":"node_failed","node":"a","item":0,"will_retry":true,"error":{"type":"timeout","message":"late"}`,
				`"event":"node_failed","node":"a","item":0,"will_retry":false,"error":{"type":"timeout","message":"late"}`,
			},
			Running, "3s [0] 2 of 3, 1 failed",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := read(t, append([]string{began}, c.lines...)...)
			n := r.Node("a")
			if got := describe(n, r.Time); n.State != c.state || got != c.more {
				t.Errorf("%s, %s", n.State, got)
			}
			if counts := r.Counts(); counts[""]+counts[c.state] < 3 {
				t.Errorf("%v", counts)
			}
		})
	}
}

// describe returns the properties of a node except its state.
func describe(n *Node, now time.Time) string {
	var tries []string
	for _, a := range n.Attempts {
		mark := ""
		if a.Error != nil {
			mark = "!"
		}
		if !a.RetryAt.IsZero() {
			mark += "+" + a.RetryAt.Sub(a.Ended).String()
		}
		if a.FromRun != "" {
			mark = "<" + a.FromRun
		}
		tries = append(tries, fmt.Sprint(a.Number)+mark)
	}
	parts := []string{n.Elapsed(now).String(), fmt.Sprint(tries)}
	if n.Handled {
		parts = append(parts, "handled")
	}
	if n.Error != nil {
		parts = append(parts, n.Error.Message)
	}
	if n.Iteration > 0 {
		parts = append(parts, fmt.Sprint("iteration ", n.Iteration))
	}
	if n.FromRun != "" {
		parts = append(parts, "from "+n.FromRun)
	}
	for _, text := range []string{n.Question, n.Answer, n.Reason} {
		if text != "" {
			parts = append(parts, text)
		}
	}
	if n.Total >= 0 {
		parts = append(parts, fmt.Sprintf("%d of %d, %d failed", len(n.Items), n.Total, n.Failures()))
	}
	return strings.Join(parts, " ")
}

func TestAnswersHaveTheirTimes(t *testing.T) {
	r := read(t, began, `"event":"approval_requested","node":"a","question":"Well?"`, `"event":"node_skipped","node":"b"`, `"event":"approval_resolved","node":"a","answer":"yes"`)
	if n := r.Node("a"); n.Answered.Sub(n.Asked) != 2*time.Second {
		t.Errorf("asked %s, answered %s", n.Asked, n.Answered)
	}
}

func TestNodesInsideOthersStandBehindThem(t *testing.T) {
	r := read(t, began, `"event":"node_started","node":"b/x"`, `"event":"node_started","node":"b[3]/y/z"`, `"event":"node_started","node":"b#2/x"`, `"event":"node_skipped","node":"d"`)
	var paths []string
	for n := range r.All() {
		paths = append(paths, n.Path)
	}
	if want := []string{"a", "b", "b/x", "b[3]/y", "b[3]/y/z", "b#2/x", "c", "d"}; !slices.Equal(paths, want) {
		t.Errorf("%v", paths)
	}
	for range r.All() {
		break // which ends it
	}
}

func TestTheEventsOfTwoRunsAreRefused(t *testing.T) {
	if _, err := Read(strings.NewReader(stream(began, began))); err == nil {
		t.Error("two runs in one")
	}
	if r := read(t, began, `"event":"run_finished","status":"completed"`); r.Finished == nil || r.Finished.Status != event.Completed || r.Started == nil {
		t.Errorf("%+v", r)
	}
}

func TestHowLongARunTook(t *testing.T) {
	finished := `"event":"run_finished","status":"completed"`
	for want, lines := range map[string][]string{
		"0s": nil, "9s": {began}, "2s": {began, `"event":"node_started","node":"a"`, finished}, "1.5s": {began, finished + `,"duration_ms":1500`},
	} {
		r := read(t, lines...)
		if got := r.Elapsed(time.Date(2026, 1, 1, 0, 0, 9, 0, time.UTC)).String(); got != want {
			t.Errorf("%d events: %s, want %s", len(lines), got, want)
		}
	}
}

func TestID(t *testing.T) {
	for want, lines := range map[string][]string{"": nil, "r1": {began}} {
		if got := read(t, lines...).ID(); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
	if got := read(t, `"event":"run_finished","status":"failed"`).ID(); got != "r1" {
		t.Errorf("the end alone is of %q", got)
	}
}

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0s", 40 * time.Microsecond: "0s", 2040 * time.Microsecond: "2ms", 9960 * time.Microsecond: "10ms",
		123456 * time.Microsecond: "123ms", 1234500 * time.Microsecond: "1.2s", 65432 * time.Millisecond: "1m5s",
	} {
		if got := FormatDuration(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}

// A stream that does not say which workflow it is of has one without a name.
func TestARunOfNoWorkflow(t *testing.T) {
	if r := read(t, `"event":"run_started","nodes":["a"]`); r.Started.Workflow == nil || r.Started.Workflow.Name != "" {
		t.Errorf("%+v", r.Started)
	}
}
