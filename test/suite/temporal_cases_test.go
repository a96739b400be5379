package suite

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"github.com/pflow-suite/pflow/internal/cases"
)

// TestCasesOnACluster runs cases here and, as a whole, on a cluster. Their events are the same.
func TestCasesOnACluster(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	all, err := cases.Read(filepath.Join("..", "cases"))
	if err != nil {
		t.Fatal(err)
	}
	servers := caseServers(t)
	for _, one := range sampled(all) {
		if differsOnACluster[one.Name] {
			continue
		}
		t.Run(one.Name, func(t *testing.T) {
			t.Parallel()
			needs(t, one.Needs...)
			own := servers
			if answersDifferently[one.Name] {
				own = caseServers(t)
			}
			here := eventsHere(newPlace(t), one, own)
			if answersDifferently[one.Name] {
				own = caseServers(t)
			}
			if there := c.eventsThere(t, one, own); there != here {
				t.Errorf("there:\n%s\nhere:\n%s", there, here)
			}
		})
	}
}

// differsOnACluster has the cases whose events name a place in a file that the workflow refers to: the workflow crosses the cluster as one
// document.
var differsOnACluster = map[string]bool{"file-reference-error-place": true, "file-reference-fault-place": true}

// eventsHere runs a case on this machine and returns its events.
func eventsHere(p *place, c cases.Case, servers []string) string {
	p.Helper()
	file := filepath.Join(p.dir, "events.ndjson")
	c.Args = append(slices.Clone(c.Args), "--checkpoint", file)
	runCase(p, &c, servers)
	if !p.exists("events.ndjson") {
		return ""
	}
	return p.ofRunOnly(p.read("events.ndjson"))
}

// eventsThere runs a case on a worker of a cluster and returns its events.
func (c *cluster) eventsThere(t *testing.T, one cases.Case, servers []string) string {
	t.Helper()
	p, queue := c.place(t)
	key := p.write("key", strings.Repeat("0f", 32))
	args := append([]string{"start", "--queue", queue, "--codec-key-file", key}, p.setUp(&one, servers)...)
	p.worker("home", queue, "--codec-key-file", key)
	o := p.run("pflow-temporal", args...)
	if o.exit == 2 && slices.Contains(one.Expect.Exit, 2) {
		return ""
	}
	if o.exit != 0 {
		t.Fatal(o)
	}
	id := gjson.Get(o.stdout, "run_id").Str
	o = p.run("pflow-temporal", "wait", id, "--codec-key-file", key)
	if slices.Contains(one.Expect.Exit, 2) { // pflow-exec refuses it on the worker
		one.Expect.Exit = append(one.Expect.Exit, 1)
	}
	checkCase(p, &one, o)
	return p.ofRunOnly(p.must("pflow-temporal", "events", id, "--codec-key-file", key))
}

// ofRunOnly returns events without what differs from run to run, without what is there because each run on a cluster goes on from its own
// beginning, and without the path of the workflow, which has none on a worker.
func (p *place) ofRunOnly(events string) string {
	var lines []string
	folder := filepath.Join("/place", "work") + "/"
	events = strings.NewReplacer(folder+"workflow.json", "-", folder, "", `,"workflow":true`, "").Replace(withoutPlaces(p, events))
	for line := range strings.Lines(events) {
		for _, path := range []string{"resumed_from", "first_run", "spent", "because"} {
			line, _ = sjson.Delete(line, path)
		}
		lines = append(lines, strings.TrimSpace(line))
	}
	return strings.Join(lines, "\n")
}
