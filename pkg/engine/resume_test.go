package engine_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/engine/resume"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
)

// chain is a workflow whose nodes append to a file, so that their runs can be counted.
func chain(second string) string {
	return `{"nodes":[` + shellNode("a", "echo a >> ran; echo one") + `,` + shellNode("b", "echo b >> ran; echo ${a.stdout} "+second) + `,` +
		shellNode("c", "echo c >> ran; echo ${b.stdout} three") + `],"outputs":{"all":{"source":"${c.stdout}"}}}`
}

func TestResumeReusesWhatIsUnchanged(t *testing.T) {
	b := newBench(t)
	first := b.play(t.Context(), chain("two; false"))
	if first.last.Status != event.Failed {
		t.Fatal(first.last.Status)
	}
	second := b.play(t.Context(), chain("two"), first.whole(b))
	if second.nodes(event.NodeReused) != "a" || second.nodes(event.NodeCompleted) != "b c" || string(second.last.Outputs) != `{"all":"one two three"}` {
		t.Errorf("reused %q, ran %q, outputs %s", second.nodes(event.NodeReused), second.nodes(event.NodeCompleted), second.last.Outputs)
	}
	third := b.play(t.Context(), chain("zwei"), second.whole(b))
	if third.nodes(event.NodeReused) != "a" || string(third.last.Outputs) != `{"all":"one zwei three"}` {
		t.Errorf("reused %q, outputs %s", third.nodes(event.NodeReused), third.last.Outputs)
	}
	for _, e := range third.events {
		if e.Event == event.NodeReused && e.FromRun != first.id {
			t.Errorf("reused from %s, ran in %s", e.FromRun, first.id)
		}
	}
	fourth := b.play(t.Context(), chain("zwei"), third.whole(b))
	if *fourth.last.NodesExecuted != 0 || *fourth.last.NodesReused != 3 {
		t.Errorf("%d executed, %d reused", *fourth.last.NodesExecuted, *fourth.last.NodesReused)
	}
	if got := b.file("ran"); got != "a\nb\nb\nc\nb\nc\n" {
		t.Errorf("ran %q", got)
	}
}

// A node runs again if one that it depends on ran again, even if that has the same outputs.
func TestWhatDependsOnAChangeRunsAgain(t *testing.T) {
	b := newBench(t)
	first := b.play(t.Context(), chain("two"))
	second := b.play(t.Context(), chain("two #"), first.whole(b))
	if second.nodes(event.NodeReused) != "a" || second.nodes(event.NodeCompleted) != "b c" {
		t.Errorf("reused %q, ran %q", second.nodes(event.NodeReused), second.nodes(event.NodeCompleted))
	}
}

func TestAnErrorEdgeIsACheckpointToo(t *testing.T) {
	b := newBench(t)
	def := func(end string) string {
		return `{"nodes":[` + shellNode("a", "echo a >> ran; echo no >&2; exit 4") + `,` + shellNode("h", "echo ${a.exit_code} ${a.stderr}"+end) + `,` + shellNode("never", "echo never >> ran") + `],
			"edges":[{"from":"a","to":"h","action":"error"},{"from":"a","to":"never"}]}`
	}
	first := b.play(t.Context(), def(""))
	if first.last.Status != event.Degraded || !strings.Contains(string(first.last.Outputs), `"stdout":"4 no"`) || first.nodes(event.NodeSkipped) != "never" {
		t.Errorf("%s %s", first.last.Status, first.last.Outputs)
	}
	second := b.play(t.Context(), def(" again"), first.whole(b))
	if second.last.Status != event.Degraded || second.nodes(event.NodeReused) != "a" || !strings.Contains(string(second.last.Outputs), `"stdout":"4 no again"`) || b.file("ran") != "a\n" {
		t.Errorf("%s %s, ran %q", second.last.Status, second.last.Outputs, b.file("ran"))
	}
}

func TestLongOutputsLiveInBlobs(t *testing.T) {
	b := newBench(t)
	def := func(end string) string {
		return `{"nodes":[` + shellNode("big", "echo ran >> ran; head -c 300000 /dev/zero | tr '\\0' x") + `,{"id":"count","type":"shell","params":{"command":"wc -c` + end + `","stdin":"${big.stdout}"}}],"outputs":{"n":{"source":"${count.stdout}"}}}`
	}
	first := b.play(t.Context(), def(""))
	for _, line := range first.lines {
		if len(line) > event.InlineLimit {
			t.Errorf("a line of %d bytes", len(line))
		}
	}
	second := b.play(t.Context(), def(" "), first.whole(b))
	if strings.TrimSpace(string(second.last.Outputs)) != `{"n":"300000"}` || second.nodes(event.NodeReused) != "big" {
		t.Errorf("%s, reused %q", second.last.Outputs, second.nodes(event.NodeReused))
	}
	blobs, err := filepath.Glob(b.home.Path("runs", second.id, "blobs", "*"))
	if err != nil || len(blobs) != 1 {
		t.Fatalf("blobs of the resumed run: %v", blobs)
	}
	if err := os.Remove(blobs[0]); err != nil {
		t.Fatal(err)
	}
	third := b.play(t.Context(), def(""), second.whole(b))
	if third.last.Status != event.Completed || third.nodes(event.NodeReused) != "" || b.file("ran") != "ran\nran\n" {
		t.Errorf("a missing blob: %s, reused %q, ran %q", third.last.Status, third.nodes(event.NodeReused), b.file("ran"))
	}
}

func TestReadCheckpointRefusesWhatIsNone(t *testing.T) {
	for name, stream := range map[string]string{
		"empty": "", "no beginning": `{"v":1,"seq":2,"event":"node_completed","run":"r","time":"2026-01-01T00:00:00Z","node":"a"}` + "\n",
		"two runs": strings.Repeat(`{"v":1,"seq":1,"event":"run_started","run":"r","time":"2026-01-01T00:00:00Z"}`+"\n", 2),
	} {
		if _, err := resume.Read(strings.NewReader(stream), nil); fault.From(err).Type != fault.Usage {
			t.Errorf("%s: %v", name, err)
		}
	}
}
