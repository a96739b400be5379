package suite

import (
	"os"
	"strings"
	"testing"
)

// Events with inlined values are a checkpoint in another home, without the run.
func TestAStreamThatStandsAlone(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("w.json", `{"nodes":[
		{"id":"long","type":"shell","params":{"command":"echo long >> ran.txt; head -c 100000 /dev/zero | tr '\\0' x"}},
		{"id":"bytes","type":"shell","params":{"command":"echo bytes >> ran.txt; printf '\\377'; head -c 100000 /dev/zero"}},
		{"id":"many","type":"shell","batch":{"items":[1,2,3]},"params":{"command":"echo ${item} >> ran.txt; head -c 50000 /dev/zero | tr '\\0' y"}},
		{"id":"last","type":"shell","params":{"stdin":"${long.stdout}","command":"cat there > /dev/null && wc -c"}}],
		"outputs":{"size":{"source":"${last.stdout}"},"many":{"source":"${many.results[2].stdout}"},"bytes":{"source":"${bytes.stdout}"}}}`)
	if o := p.run("pflow-exec", "run", "w.json", "-k"); o.exit != 1 {
		t.Fatal(o)
	}
	stream := p.must("pflow-exec", "events", "last", "--inline")
	if strings.Contains(stream, `"$blob"`) || len(stream) < 350_000 || len(p.events(stream)) != len(p.events(p.journal())) {
		t.Errorf("%d bytes, %d events", len(stream), len(p.events(stream)))
	}
	p.write("f.ndjson", stream)
	if err := os.RemoveAll(p.home); err != nil {
		t.Fatal(err)
	}
	if o := p.fed(stream, "pflow-exec", "report", "-"); o.exit != 0 || !strings.Contains(o.stdout, "</html>") {
		t.Errorf("no report of it: exit status %d, %s", o.exit, o.stderr)
	}
	ran := p.read("ran.txt")
	if got := p.would("w.json", "--resume", "f.ndjson"); got != "reuse long, reuse bytes, reuse many, run last" {
		t.Errorf("predicted %s", got)
	}
	p.write("there", "now")
	p.must("pflow-exec", "run", "w.json", "--resume", "f.ndjson")
	for output, want := range map[string]string{"size": "100000\n", "many": strings.Repeat("y", 50_000) + "\n"} {
		if got := strings.TrimLeft(p.must("pflow-exec", "wait", "last", "--print", output), " "); got != want {
			t.Errorf("%s: %.100q", output, got)
		}
	}
	if p.read("ran.txt") != ran {
		t.Errorf("it ran again: %q, then %q", ran, p.read("ran.txt"))
	}
	if again := p.must("pflow-exec", "events", "last", "--inline", "--follow"); strings.Contains(again, `"$blob"`) || !strings.Contains(again, strings.Repeat("x", 100_000)) {
		t.Errorf("%d bytes", len(again))
	}
	blobs := p.home + "/runs/" + p.last(p.journal())["run"].(string) + "/blobs"
	if err := os.RemoveAll(blobs); err != nil {
		t.Fatal(err)
	}
	if o := p.run("pflow-exec", "events", "last", "--inline"); o.exit != 1 || !strings.Contains(o.stderr, "pflow-exec: error: ") {
		t.Errorf("with its long values gone: %.3000s", o)
	}
}
