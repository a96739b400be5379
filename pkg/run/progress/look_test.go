package progress

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pflow-suite/pflow/internal/golden"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/event/history"
)

// epoch is the start of the runs of these tests.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// at returns an event at a time after the start.
func at(t testing.TB, after time.Duration, fields string) *event.Event {
	t.Helper()
	var e event.Event
	line := fmt.Sprintf(`{"v":1,"run":"r01run","time":%q,%s}`, epoch.Add(after).Format(time.RFC3339Nano), fields)
	if err := json.Unmarshal([]byte(line), &e); err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	return &e
}

// begun returns the first event of a run of nodes.
func begun(nodes ...string) string {
	return fmt.Sprintf(`"event":"run_started","workflow":{"name":"deploy.json","digest":"d"},"nodes":["%s"]`, strings.Join(nodes, `","`))
}

func started(node, more string) string {
	return fmt.Sprintf(`"event":"node_started","node":%q,"type":"shell"%s`, node, more)
}

func done(node string, ms int) string {
	return fmt.Sprintf(`"event":"node_completed","node":%q,"action":"default","duration_ms":%d`, node, ms)
}

func failure(node, message, more string) string {
	return fmt.Sprintf(`"event":"node_failed","node":%q,"attempt":1,"duration_ms":300,"error":{"type":"execution_error","message":%q}%s`, node, message, more)
}

const final = `,"will_retry":false,"handled":false`

// scene is a run up to some moment. Each event comes some seconds after the one before.
type scene struct {
	events []string
	apart  time.Duration
	// wide and high are the size of the screen; 0 stands for 80 by 24.
	wide, high int
}

var scenes = map[string]scene{
	"nothing": {},
	"begun":   {events: []string{begun("a", "b")}},
	"running": {events: []string{
		begun("build", "fetch-all", "lint", "test"), started("build", ""), done("build", 1200), started("lint", `,"attempt":2`), started("fetch-all", `,"items":1000`),
		`"event":"item_completed","node":"fetch-all","item":0,"duration_ms":5`, `"event":"node_failed","node":"fetch-all","item":1,"will_retry":false,"error":{"type":"timeout","message":"late"}`,
		started("test", `,"iteration":3`), `"event":"node_progress","node":"test","done":12,"total":40,"message":"compiling"`,
	}},
	"narrow":  {wide: 34, events: []string{begun("build", "a-node-with-a-name-that-is-long"), started("a-node-with-a-name-that-is-long", ""), failure("build", "no space left on device", final)}},
	"low":     {high: 6, events: []string{begun("a", "b", "c", "d", "e", "f"), started("a", ""), started("b", ""), started("b/in", ""), started("c", ""), started("d", ""), started("e", ""), started("f", "")}},
	"inside":  {events: []string{begun("build", "other"), started("build", `,"items":2`), started("build[0]/compile", ""), started("build[1]/compile", ""), done("build[0]/compile", 1000), started("other", ""), started("build[0]/link/run", "")}},
	"retry":   {events: []string{begun("a", "b"), started("a", `,"attempt":1`), failure("a", "HTTP 500\nbad luck", `,"will_retry":true,"retry_in_ms":5000`), started("b", "")}},
	"waiting": {events: []string{begun("a", "gate"), started("a", ""), `"event":"approval_requested","node":"gate","question":"Go?","choices":["yes","no"]`, started("a", "")}},
	"answered": {events: []string{
		begun("a", "gate"), `"event":"approval_requested","node":"gate","question":"Go?","choices":["yes","no"]`,
		`"event":"approval_resolved","node":"gate","answer":"yes","by":"--approve"`, started("gate", ""), done("gate", 10),
	}},
	"long names": {events: []string{
		begun("a-node-with-a-name-of-32-columns", "a-node-with-a-name-of-33-columns!"), started("a-node-with-a-name-of-32-columns", ""), started("a-node-with-a-name-of-33-columns!", ""),
	}},
	"resumed": {events: []string{
		begun("a", "b", "c", "d"), `"event":"node_reused","node":"a","from_run":"r00old"`, `"event":"node_reused","node":"b","from_run":"r00old","cached":true`,
		`"event":"node_skipped","node":"c","reason":"no edge leads here"`, started("d", ""), done("d", 61000),
		`"event":"run_finished","status":"completed","duration_ms":61500`,
	}},
	"wide characters": {wide: 40, events: []string{begun("部署到生产环境的一个很长的名字", "✅ok"), started("部署到生产环境的一个很长的名字", ""), started("✅ok", ""), `"event":"node_progress","node":"✅ok","message":"日本語のとても長いメッセージです"`}},
	"hostile": {events: []string{
		begun(`\u001b[2Ja`, `b\u202e\n`), `"event":"node_started","node":"\u001b[2Ja","type":"\u001b]0;x\u0007"`, `"event":"node_failed","node":"b\u202e\n","error":{"type":"timeout","message":"\u001b[31m\rgone\u0000"}` + final,
		`"event":"node_progress","node":"\u001b[2Ja","message":"\u001b[?25l","total":1e300,"done":-1e300`,
	}},
	"failed": {events: []string{
		begun("build", "test", "docs", "deploy"), started("build", ""), done("build", 900), started("test", ""), started("docs", ""),
		failure("test", "Command failed with exit code 1: FAIL: TestSum\n    want 3\n\tgot 4", final), done("docs", 2000), `"event":"node_cancelled","node":"deploy","cause":"test"`,
		`"event":"run_finished","status":"failed","duration_ms":3200,"resume":"pflow-exec resume r01run","error":{"type":"execution_error","node":"test",` +
			`"message":"Command failed with exit code 1: FAIL: TestSum\n    want 3\n\tgot 4","suggestions":["Correct the command","Or not"]}`,
	}},
	"failed at length": {events: []string{
		begun("a"), started("a", ""), failure("a", "no", final),
		`"event":"run_finished","status":"failed","duration_ms":32,"resume":"pflow-exec resume r01run","error":{"type":"execution_error","node":"a","details":{"stderr":"` +
			strings.Repeat(`some line\n`, 30) + `the end\n"},"message":"MCP server process terminated unexpectedly","errors":[{"type":"timeout","message":"one"},{"type":"timeout","message":"two"}],` +
			`"suggestions":["1","2","3","4"]}`,
	}},
	"several failures": {events: []string{
		begun("a", "b", "c", "d"), started("a", ""), started("b", ""), started("c", ""), failure("c", "taken", `,"will_retry":false,"handled":true`), failure("a/in", "inner", final),
		failure("a", "inner, outside", final), failure("b", "another", final), `"event":"node_cancelled","node":"d","cause":"a"`,
	}},
	"failures of items": {events: []string{
		begun("a"), started("a", `,"items":2`), started("a[1]/in", ""), started("a[1]/in/deep", ""), failure("a[1]/in/deep", "why", final), failure("a[1]/in", "why, outside", final),
		`"event":"node_failed","node":"a","item":1,"will_retry":false,"error":{"type":"execution_error","message":"why, outside"}`, started("a[0]/in", ""), done("a[0]/in", 10),
	}},
	"degraded": {events: []string{
		begun("a", "b"), started("a", ""), failure("a", "taken", `,"will_retry":false,"handled":true`), started("b", `,"items":3`),
		`"event":"node_failed","node":"b","item":1,"will_retry":false,"error":{"type":"timeout","message":"late"}`, done("b", 100),
		`"event":"run_finished","status":"degraded","duration_ms":5000,"warnings":["node a failed and an error edge took it: taken"]`,
	}},
	"paused": {events: []string{
		begun("a", "gate", "z"), started("a", ""), done("a", 1000), `"event":"approval_requested","node":"gate","question":"Ship it?","choices":["go on","no"]`,
		`"event":"run_finished","status":"paused","duration_ms":100,"resume":"pflow-exec resume r01run","error":{"type":"execution_error","node":"gate","message":"The run waits for a person's answer: Ship it?"}`,
	}},
	"timed out": {events: []string{
		begun("a"), started("a", ""), `"event":"node_cancelled","node":"a","cause":"timeout"`,
		`"event":"run_finished","status":"timed_out","duration_ms":100,"resume":"pflow-exec resume r01run","error":{"type":"timeout","message":"The run did not end within its 3s"}`,
	}},
	"many": {high: 8, apart: 10 * time.Millisecond, events: manyNodes()},
}

// manyNodes returns a run of more nodes than a screen lists.
func manyNodes() []string {
	var ids []string
	for i := range 100 {
		ids = append(ids, fmt.Sprintf("node-%02d", i))
	}
	events := []string{begun(ids...)}
	for i, id := range ids {
		switch {
		case i < 20:
			events = append(events, fmt.Sprintf(`"event":"node_reused","node":%q,"from_run":"r00old"`, id))
		case i == 30:
			events = append(events, started(id, ""), failure(id, "no", final))
		case i < 60:
			events = append(events, started(id, ""), done(id, 10))
		case i < 90:
			events = append(events, started(id, ""))
		}
	}
	return events
}

// TestWhatIsShown compares the output of each scene on a screen without and with color, and as plain text.
func TestWhatIsShown(t *testing.T) {
	for name, s := range scenes {
		t.Run(name, func(t *testing.T) {
			goldenFile := filepath.Join("testdata", strings.ReplaceAll(name, " ", "-")+".txt")
			got := s.shown(t)
			golden.Compare(t, goldenFile, got)
		})
	}
}

// shown returns the output of the scene one second after its last event, with escape characters made visible.
func (s scene) shown(t *testing.T) string {
	var r history.Run
	var notes []note
	width, height, apart := s.wide, s.high, s.apart
	if width == 0 {
		width = 80
	}
	if height == 0 {
		height = 24
	}
	if apart == 0 {
		apart = time.Second
	}
	for i, fields := range s.events {
		e := at(t, time.Duration(i)*apart, fields)
		r.Apply(e)
		if o, ok := noteOf(&r, e); ok {
			notes = append(notes, o)
		}
	}
	now := epoch.Add(time.Duration(len(s.events))*apart + time.Second - apart)
	var b strings.Builder
	for _, colored := range []bool{false, true} {
		c := columnsOf(&r, width)
		for _, o := range notes {
			if o.keptOnScreen(&r) {
				b.WriteString(o.line(c).render(width, colored) + "\n")
			}
		}
		for _, line := range frame(&r, now, Screen{width, height, colored}, columnsOf(&r, width)) {
			b.WriteString(line + "\n")
		}
		b.WriteString("--\n")
		for _, line := range Summary(&r, colored) {
			b.WriteString(line + "\n")
		}
		b.WriteString("--------\n")
	}
	if r.Started != nil {
		b.WriteString(firstLine(&r) + "\n")
	}
	for _, o := range notes {
		b.WriteString(o.plain() + "\n")
	}
	if r.Finished != nil {
		b.WriteString(lastLine(&r) + "\n")
	}
	return strings.ReplaceAll(b.String(), "\x1b", `\e`)
}
