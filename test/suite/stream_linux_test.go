package suite

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/internal/brief"
)

// longStream is a place with the events of a run whose first node has finished and whose second has failed, and a stream of them
// with so many events between that it has 100 MB.
func longStream(t *testing.T) *place {
	t.Helper()
	p := newPlace(t)
	p.write("w.json", `{"nodes":[{"id":"a","type":"shell","params":{"command":"echo first | tee -a ran"}},{"id":"b","type":"shell","params":{"command":"echo ${a.stdout} | tee -a ran; test -e ready"}}]}`)
	o := p.run("pflow-exec", "run", "w.json", "--format", "ndjson")
	lines := strings.SplitAfter(o.stdout, "\n")
	run := gjson.Get(lines[0], "run").Str
	progress := `{"v":1,"seq":1,"event":"node_progress","run":"` + run + `","time":"2026-01-01T00:00:00Z","node":"b","done":1,"message":"` + strings.Repeat("x", 900) + "\"}\n"
	f, err := os.Create(filepath.Join(p.dir, "long.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	write := func(text string) {
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	write(strings.Join(lines[:len(lines)-2], ""))
	for range 1000 {
		write(strings.Repeat(progress, 100))
	}
	write(lines[len(lines)-2])
	p.write("ready", "")
	p.home = filepath.Join(p.dir, "other")
	p.env = append(p.env, "PFLOW_HOME="+p.home)
	return p
}

// So may one for a report, also with long values in its lines.
func TestAReportOfALongStreamOfEvents(t *testing.T) {
	brief.Skip(t)
	needsLinux(t, "memory use is read from getrusage, in units of Linux")
	p := newPlace(t)
	p.write("long.sh", `echo '{"v":1,"event":"run_started","run":"r","nodes":["n"]}'
long=$(head -c 50000 /dev/zero | tr '\0' x); long="$long$long"
for i in $(seq 3000); do echo '{"v":1,"event":"iteration_completed","node":"n","iteration":'$i',"outputs":{"a":"'"$long"'","b":"'"$long"'"}}'; done
`)
	out, mib, err := p.measured("sh", "-c", "sh long.sh | pflow-exec report - -o page.html")
	if err != nil || !strings.Contains(p.read("page.html"), "xxxxxxxx") || mib > 90 {
		t.Errorf("%v: %s, %d MiB in memory", err, out, mib)
	}
}

// A stream of events may be longer than memory should hold, in a file and in a pipe, for this process and for a detached one.
func TestALongStreamOfEvents(t *testing.T) {
	brief.Skip(t)
	needsLinux(t, "memory use is read from getrusage, in units of Linux")
	for name, line := range map[string]string{
		"resume a file": "exec pflow-exec run w.json --resume long.ndjson --format json",
		"resume a pipe": "cat long.ndjson | pflow-exec run w.json --resume - --format json",
		"resume a FIFO": "mkfifo pipe; cat long.ndjson > pipe & pflow-exec run w.json --resume pipe --format json",
		"start":         "pflow-exec start w.json --resume long.ndjson --quiet && pflow-exec wait last --format json",
		"start a pipe":  "cat long.ndjson | pflow-exec start w.json --resume - --quiet && pflow-exec wait last --format json",
		"checkpoint":    "exec pflow-exec run w.json --checkpoint long.ndjson --format json",
	} {
		t.Run(name, func(t *testing.T) {
			p := longStream(t)
			out, mib, err := p.measured("sh", "-c", line)
			lines := strings.Split(strings.TrimSpace(out), "\n")
			if err != nil || gjson.Get(lines[len(lines)-1], "status").Str != "completed" {
				t.Errorf("%v: %.1000s", err, out)
			}
			if ran := p.read("ran"); ran != "first\nfirst\nfirst\n" { // a once, b twice
				t.Errorf("the nodes have written %q", ran)
			}
			if mib > 90 {
				t.Errorf("it had %d MiB in memory", mib)
			}
			if left, _ := filepath.Glob(filepath.Join(p.home, "runs", ".new-*")); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}

// A stream that cannot be resumed is refused at the event that shows it, however long it goes on.
func TestAnEndlessStreamOfEventsIsRefused(t *testing.T) {
	t.Parallel()
	p := readingPlace(t)
	o := p.run("sh", "-c", `yes '{"v":1,"event":"node_started","node":"n","attempt":1}' | pflow-exec run w.json --resume -`)
	if o.exit != 2 || gjson.Get(o.stdout, "error.type").Str != "usage_error" || !strings.Contains(o.stdout, "node_started") {
		t.Error(o)
	}
	o = p.run("sh", "-c", `yes '{"v":1,"event":"run_started","run":"r","nodes":["n"]}' | pflow-exec run w.json --resume -`)
	if o.exit != 2 || gjson.Get(o.stdout, "error.type").Str != "usage_error" {
		t.Error(o)
	}
	o = p.run("sh", "-c", `yes | pflow-exec run w.json --resume -`)
	if o.exit != 1 || gjson.Get(o.stdout, "error.type").Str != "protocol_error" || !strings.Contains(o.stdout, "Line 1 ") {
		t.Error(o)
	}
	o = p.run("sh", "-c", `yes '{"v":1,"event":"node_started","node":"n","attempt":1}' | pflow-exec report -`)
	if o.exit != 2 || gjson.Get(o.stdout, "error.type").Str != "usage_error" {
		t.Error(o)
	}
	if left, _ := filepath.Glob(filepath.Join(p.home, "runs", ".new-*")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}
