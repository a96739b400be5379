package main

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
)

// left is a line in the file of side effects. Its node key is apart, because it is the same in each attempt.
type left struct{ run, node, item, iteration, attempt string }

// key returns the key of the node, item or iteration that wrote it.
func (l left) key() string {
	switch {
	case l.item != "-":
		return l.node + "[" + l.item + "]"
	case l.iteration != "-":
		return l.node + "#" + l.iteration
	}
	return l.node
}

// verify checks everything that the trial left, after its last call has ended.
func (t *trial) verify(last *call) {
	ids := t.runs()
	journals := map[string]journal{}
	done := map[string]int{} // the run in which each key was completed
	for i, id := range ids {
		j := t.journal(id)
		if j.wrong != "" {
			t.complain("the journal of %s is not whole: %s", id, j.wrong)
		}
		journals[id] = j
		for _, e := range j.events {
			key, ok := e.completes()
			if first, twice := done[key]; ok && twice {
				t.Repeated++
				t.complain("%s completed in %s and again in %s", key, ids[first], id)
			} else if ok {
				done[key] = i
			}
		}
	}
	t.verifyEffects(ids, done)
	t.verifyCopies(journals)
	t.verifyEnd(last, journals)
	t.verifyList(journals)
	t.verifyNothingRuns()
	for _, path := range t.strays() {
		if len(ids) > 0 && strings.Contains(path, ids[len(ids)-1]) {
			t.complain("%s is left by a run that was not killed", path)
		}
	}
}

// verifyEffects checks that everything ran, and that nothing ran again after it was completed.
func (t *trial) verifyEffects(ids []string, done map[string]int) {
	text, err := os.ReadFile(t.effectsFile)
	if err != nil {
		t.complain("no side effects: %v", err)
		return
	}
	ran, attempts, newest, keys := map[string]int{}, map[left]int{}, 0, nodeKeys{}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) != 6 || !strings.HasSuffix(line, "\n") {
			t.complain("a side effect is incomplete: %q", line)
			continue
		}
		l := left{f[0], f[1], f[2], f[3], f[4]}
		in := slices.Index(ids, l.run)
		key := l.key()
		ran[key]++
		attempts[l]++
		keys.note(key, f[5])
		if first, ok := earliest(done, key); ok && in > first {
			t.Repeated++
			t.complain("%s ran in %s although it was completed in %s", key, l.run, ids[first])
		}
		if in < 0 {
			t.complain("%s ran in %s, which has no journal", key, l.run)
			continue
		}
		if in < newest {
			t.complain("%s of %s was still running when %s had begun", key, l.run, ids[newest])
		}
		newest = max(newest, in)
	}
	most := map[string]int{}
	for _, key := range t.effects {
		most[key]++
	}
	for l, n := range attempts {
		if n > most[l.key()] {
			t.complain("%s left %d side effects in attempt %s of run %s", l.key(), n, l.attempt, l.run)
		}
	}
	for key, n := range most {
		if ran[key] < n {
			t.complain("%s left %d side effects, want %d", key, ran[key], n)
		}
		delete(ran, key)
	}
	for key := range ran {
		t.complain("%s ran, but the workflow does not have it", key)
	}
	t.verifyKeys(keys)
}

// earliest returns the first run in which a key, or a node that contains it, was completed.
func earliest(done map[string]int, key string) (run int, ok bool) {
	for end := range len(key) + 1 {
		if end < len(key) && !strings.ContainsRune("/[#", rune(key[end])) {
			continue
		}
		if in, is := done[key[:end]]; is && (!ok || in < run) {
			run, ok = in, true
		}
	}
	return run, ok
}

// verifyCopies checks that the journal of a run has what calls wrote about it to standard output.
func (t *trial) verifyCopies(journals map[string]journal) {
	for _, c := range t.calls {
		text, err := os.ReadFile(c.stdout)
		if err != nil {
			t.complain("cannot read the output of %s", c)
			continue
		}
		if c.supervised || !bytes.HasPrefix(text, []byte(`{"v":1,"seq":1,"event":"run_started"`)) {
			continue
		}
		var first event
		line, _, _ := bytes.Cut(text, []byte("\n"))
		if json.Unmarshal(line, &first) != nil {
			continue // incomplete
		}
		journal := journals[first.Run].text
		if !c.killed && c.exit != 0 { // it ends with an error, which is not an event
			if i := bytes.LastIndex(text, []byte("{\"success\"")); i >= 0 {
				text = text[:i]
			}
		}
		if !bytes.HasPrefix(journal, text) {
			t.complain("%s wrote lines that the journal of %s does not have", c, first.Run)
		}
		if !c.killed && c.exit == 0 && len(text) != len(journal) {
			t.complain("%s wrote %d of the %d bytes of its journal", c, len(text), len(journal))
		}
	}
}

// verifyEnd checks that the last call ended like a run without interruptions.
func (t *trial) verifyEnd(c *call, journals map[string]journal) {
	text, _ := os.ReadFile(c.stdout)
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	var last event
	if err := json.Unmarshal(lines[len(lines)-1], &last); err != nil || last.Event != "run_finished" || last.Status != t.status {
		t.complain("%s did not end %s: exit status %d, %s %s", c, t.status, c.exit, last.Status, quote(c.stderr))
		return
	}
	for name, want := range t.want {
		if got := string(last.Outputs[name]); got != want {
			t.complain("the output %s is %s, want %s", name, got, want)
		}
	}
	if j := journals[last.Run]; j.status() != t.status {
		t.complain("the journal of %s does not end %s", last.Run, t.status)
	}
}

// verifyList checks that list prints the same status for each run as its journal has.
func (t *trial) verifyList(journals map[string]journal) {
	c, err := t.call(moment{}, "", "list", "--format", "ndjson")
	if err != nil || c.exit != 0 {
		t.complain("list fails: %v %s", err, quote(c.stderr))
		return
	}
	text, _ := os.ReadFile(c.stdout)
	seen := 0
	for line := range bytes.Lines(text) {
		var run struct {
			ID     string `json:"run_id"`
			Status string `json:"status"`
		}
		if err := json.Unmarshal(line, &run); err != nil {
			t.complain("list: %v: %s", err, line)
			continue
		}
		seen++
		if want := journals[run.ID].status(); run.Status != want {
			t.complain("list shows %s as %s, its journal has %s", run.ID, run.Status, want)
		}
	}
	if seen != len(journals) {
		t.complain("list shows %d runs, want %d", seen, len(journals))
	}
}
