package progress

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"pgregory.net/rapid"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/event/history"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/terminal/cells"
)

// The output of any events fits the screen, has no control sequences from them, and without color is plain text.
func TestAnyRunIsShown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Screen{Width: rapid.IntRange(0, 120).Draw(t, "width"), Height: rapid.IntRange(0, 30).Draw(t, "height"), Color: rapid.Bool().Draw(t, "color")}
		var r history.Run
		for range rapid.IntRange(0, 30).Draw(t, "events") {
			e := anyEvent(t)
			r.Apply(e)
			if o, ok := noteOf(&r, e); ok {
				check(t, o.line(columnsOf(&r, s.Width)).render(s.Width, s.Color), s.Width, s.Color)
				check(t, o.plain(), unlimited, false)
				o.keptOnScreen(&r)
			}
		}
		frame := frame(&r, epoch.Add(rapid.Custom(anyTime).Draw(t, "now")), s, columnsOf(&r, s.Width))
		if len(frame) > max(0, s.Height-1) {
			t.Fatalf("%d lines on %d rows", len(frame), s.Height)
		}
		for _, text := range frame {
			check(t, text, s.Width, s.Color)
		}
		for _, text := range Summary(&r, s.Color) {
			check(t, text, unlimited, s.Color)
		}
		if r.Started != nil {
			check(t, firstLine(&r), unlimited, false)
		}
		if r.Finished != nil {
			check(t, lastLine(&r), unlimited, false)
		}
	})
}

// check checks a line that is shown.
func check(t *rapid.T, text string, width int, colored bool) {
	plain := text
	if colored {
		for _, c := range []color{bold, dim, red, green, yellow, cyan, "0"} {
			plain = strings.ReplaceAll(plain, "\x1b["+string(c)+"m", "")
		}
		if strings.Count(text, "\x1b[0m")*2 != strings.Count(text, "\x1b[") {
			t.Fatalf("%q does not end its colors", text)
		}
	}
	if strings.ContainsFunc(plain, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }) {
		t.Fatalf("%q could steer a terminal", text)
	}
	if cells.Width(plain) > width || shownWidth(text) != cells.Width(plain) {
		t.Fatalf("%q takes %d columns of %d, by itself %d", text, cells.Width(plain), width, shownWidth(text))
	}
}

func anyTime(t *rapid.T) time.Duration {
	return rapid.OneOf(rapid.Map(rapid.IntRange(-10, 1e6), func(ms int) time.Duration { return time.Duration(ms) * time.Millisecond }), rapid.Map(rapid.Int64(), func(ns int64) time.Duration { return time.Duration(ns) })).Draw(t, "time")
}

// anyEvent draws an event that a run, or an attacker, could write.
func anyEvent(t *rapid.T) *event.Event {
	text := rapid.OneOf(rapid.SampledFrom([]string{"", "a", "b", "a/in", "b[2]/in", "b[2]/in/deep", "a b  c", "\x1b[2J", "\u202e", "日本語", "❤\ufe0f👩\u200d👩", "\xff\n\t"}), rapid.String())
	number := rapid.OneOf(rapid.Float64Range(-10, 1e4), rapid.Float64())
	count := rapid.Ptr(rapid.IntRange(-1, 2000), true)
	flag := rapid.Ptr(rapid.Bool(), true)
	e := &event.Event{
		Event: rapid.SampledFrom([]event.Kind{
			event.RunStarted, event.NodeStarted, event.NodeStarted, event.NodeProgress, event.NodeCompleted, event.NodeReused, event.NodeFailed, event.NodeSkipped, event.NodeCancelled,
			event.ItemCompleted, event.IterationCompleted, event.ApprovalRequested, event.ApprovalResolved, event.RunFinished, event.RunRefused, "unheard_of",
		}).Draw(t, "event"),
		Run: text.Draw(t, "run"), Time: epoch.Add(rapid.Custom(anyTime).Draw(t, "time")), Node: text.Draw(t, "node"), Item: count.Draw(t, "item"), Items: count.Draw(t, "items"),
		Nodes: rapid.SliceOfN(text, 0, 60).Draw(t, "nodes"), ResumedFrom: text.Draw(t, "resumed from"), Type: text.Draw(t, "type"), Attempt: rapid.IntRange(-1, 5).Draw(t, "attempt"),
		Iteration: rapid.IntRange(-1, 5).Draw(t, "iteration"), Done: number.Draw(t, "done"), Total: number.Draw(t, "total"), Message: text.Draw(t, "message"), FromRun: text.Draw(t, "from run"),
		DurationMS: rapid.Ptr(number, true).Draw(t, "duration"), WillRetry: flag.Draw(t, "will retry"), RetryInMS: rapid.Ptr(number, true).Draw(t, "retry in"), Handled: flag.Draw(t, "handled"),
		Question: text.Draw(t, "question"), Choices: rapid.SliceOfN(text, 0, 3).Draw(t, "choices"), Answer: text.Draw(t, "answer"), By: text.Draw(t, "by"), Reason: text.Draw(t, "reason"),
		Cause: text.Draw(t, "cause"), Resume: &fault.Step{Do: rapid.SampledFrom([]string{fault.DoResume, fault.DoRetry, fault.DoShell, "unheard_of"}).Draw(t, "do"), Run: text.Draw(t, "resume"), Command: text.Draw(t, "command")}, Warnings: rapid.SliceOfN(text, 0, 20).Draw(t, "warnings"),
		Status: rapid.SampledFrom([]event.Status{event.Completed, event.Degraded, event.Failed, event.Cancelled, event.TimedOut, event.Paused, event.Denied, "unheard_of"}).Draw(t, "status"),
	}
	if rapid.Bool().Draw(t, "workflow") {
		e.Workflow = &event.Workflow{Name: text.Draw(t, "name")}
	}
	if rapid.Bool().Draw(t, "error") {
		e.Error = fault.New(fault.Execution, "%s", text.Draw(t, "error's message")).Detail("stderr", strings.Repeat(text.Draw(t, "stderr")+"\n", 20))
		e.Error.Node, e.Error.Suggestions = text.Draw(t, "error's node"), slices.Repeat([]string{text.Draw(t, "suggestion")}, 5)
		e.Error.Errors = []*fault.Fault{fault.New(fault.Timeout, "%s", text.Draw(t, "another message"))}
	}
	return e
}
