package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// The runs of a limited trial, the most that are begun and not ended at the same time, and the most that may be executed.
const (
	limitedRuns = 200
	limitedLive = 8
	limitedMost = 3
)

// limited begins runs beside each other with the setting runtime.max_runs, and kills some of them. Never may more of them than that
// be executed, and those that were not killed must end.
func (t *trial) limited() error {
	t.file = filepath.Join(t.dir, "workflow.json")
	settings := fmt.Sprintf(`{"runtime":{"max_runs":%d}}`, limitedMost)
	if err := errors.Join(
		os.WriteFile(filepath.Join(t.home, "settings.json"), []byte(settings), 0o600),
		os.WriteFile(t.file, []byte(`{"nodes":[{"id":"a","type":"shell","params":{"command":"sleep 0.02"}},{"id":"b","type":"echo","params":{"data":"${a.stdout}"}}]}`), 0o600),
	); err != nil {
		return err
	}
	var live []*call
	for left := limitedRuns; left > 0 || len(live) > 0; {
		time.Sleep(t.soon(5 * time.Millisecond))
		live = t.living(live, func(c *call) {
			if !c.killed && c.exit != 0 {
				t.complain("%s: %s %s", c, c.end(), quote(c.stderr))
			}
		})
		switch {
		case len(live) > 0 && t.rng.IntN(10) == 0:
			t.killOneOf(live)
		case left > 0 && len(live) < limitedLive:
			c, err := t.start("", "run", t.file, "--quiet")
			if err != nil {
				return err
			}
			live, left = append(live, c), left-1
		}
	}
	return t.checkLimited()
}

// checkLimited compares the times of the runs: from the first event about a node to the last.
func (t *trial) checkLimited() error {
	type change struct {
		at   time.Time
		more int
	}
	var changes []change
	for _, id := range t.runs() {
		var times []time.Time
		j := t.journal(id)
		if j.wrong != "" {
			t.complain("run %s: %s", id, j.wrong)
		}
		for line := range bytes.Lines(j.text) {
			var e struct {
				Node string
				Time time.Time
			}
			if json.Unmarshal(line, &e) == nil && e.Node != "" { // else the last line of a killed run is torn
				times = append(times, e.Time)
			}
		}
		if len(times) > 0 {
			changes = append(changes, change{times[0], 1}, change{times[len(times)-1], -1})
		}
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Or(a.at.Compare(b.at), a.more-b.more) })
	now := 0
	for _, c := range changes {
		if now += c.more; now > limitedMost {
			t.complain("%d runs are executed at %s", now, c.at)
		}
	}
	return nil
}
