package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// untilBatchEnds waits for the run of the batch, which must succeed.
func (c *onCluster) untilBatchEnds(deadline time.Time) error {
	select {
	case <-c.batch.ended:
	case <-time.After(time.Until(deadline)):
		c.Stuck++
		c.complain("the batch does not end")
	}
	if c.wait(c.batch); c.batch.exit != 0 {
		c.Stuck++
		c.complain("the batch: exit status %d: %s", c.batch.exit, quote(c.batch.stdout))
	}
	return nil
}

// untilWholeEnds waits for the whole run, which must succeed.
func (c *onCluster) untilWholeEnds(deadline time.Time) error {
	if c.whole == "" {
		return nil
	}
	for {
		wait, err := c.command("wait", c.whole)
		if err != nil {
			return err
		}
		select {
		case <-wait.ended:
		case <-time.After(time.Until(deadline)):
			_ = wait.cmd.Process.Kill()
		}
		if c.wait(wait); wait.exit == 0 {
			return nil
		}
		if time.Now().After(deadline) || !strings.Contains(quote(wait.stdout), `"unavailable"`) {
			c.Stuck++
			c.complain("the whole run: exit status %d: %s", wait.exit, quote(wait.stdout))
			return nil
		}
	}
}

// verifyBatch checks that each item of the batch ended once, and ran again only for a kill.
func (c *onCluster) verifyBatch() {
	ids := c.runs()
	done, ended := map[string]int{}, map[string]int{}
	for i, id := range ids {
		j := c.journal(id)
		if j.wrong != "" {
			c.complain("the journal of %s is not whole: %s", id, j.wrong)
		}
		for _, e := range j.events {
			if key, ok := e.completes(); ok {
				done[key] = i
				ended[key]++
			}
		}
	}
	for key, n := range ended {
		if n > 1 {
			c.Repeated++
			c.complain("%s ended %d times", key, n)
		}
	}
	ran, attempts, keys := map[string]int{}, map[left]int{}, nodeKeys{}
	text, _ := os.ReadFile(c.effectsFile)
	order := map[string]int{}
	for i, id := range ids {
		order[id] = i
	}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) != 6 {
			c.complain("a side effect is incomplete: %q", line)
			continue
		}
		l := left{f[0], f[1], f[2], f[3], f[4]}
		ran[l.key()]++
		attempts[l]++
		keys.note(l.key(), f[5])
		if first, finished := done[l.key()]; finished && order[l.run] > first {
			c.Repeated++
			c.complain("%s ran in %s although it had ended in %s", l.key(), l.run, ids[first])
		}
	}
	for l, n := range attempts {
		if n > 1 {
			c.Repeated++
			c.complain("%s ran %d times in attempt %s of %s", l.key(), n, l.attempt, l.run)
		}
	}
	for key, n := range ran {
		if n > 1+c.losses() {
			c.complain("%s ran %d times with %d losses", key, n, c.losses())
		}
	}
	if len(ran) != c.items+1 || len(ended) != c.items+2 {
		c.complain("%d of the batch ran and %d ended, want %d items and a node", len(ran), len(ended), c.items)
	}
	c.verifyKeys(keys)
}

// verifyWhole checks that the whole run is whole, and that what had finished did not run again.
func (c *onCluster) verifyWhole() {
	if c.whole == "" {
		return
	}
	events, err := c.command("events", c.whole)
	if err != nil {
		c.complain("events: %v", err)
		return
	}
	c.wait(events)
	text, _ := os.ReadFile(events.stdout)
	ended := map[string]int{}
	var last event
	for line := range bytes.Lines(text) {
		if last = (event{}); json.Unmarshal(line, &last) != nil {
			c.complain("an event is no JSON: %.100s", line)
		}
		if last.Event == "node_completed" || last.Event == "node_reused" {
			ended[last.Node]++
		}
	}
	var all string
	_ = json.Unmarshal(last.Outputs["all"], &all)
	if last.Status != "completed" || len(all) != clusterNodes*1000 || len(ended) != clusterNodes {
		c.complain("the whole run ended %q with %d bytes and %d nodes", last.Status, len(all), len(ended))
	}
	ran := c.ranWhole()
	for i := range clusterNodes {
		id := fmt.Sprintf("n%d", i)
		if n := ended[id]; n != 1 {
			c.complain("%s ended %d times in the events of the whole run", id, n)
		}
		if ran[id] < 1 || ran[id] > 1+c.losses() {
			c.complain("%s ran %d times with %d losses", id, ran[id], c.losses())
		}
		if before, known := c.finished[id]; known && ran[id] > before {
			c.Repeated++
			c.complain("%s had finished, as the cluster knew, and ran again", id)
		}
	}
	keys, latest := nodeKeys{}, 0
	effects, _ := os.ReadFile(c.wholeEffects)
	for line := range strings.Lines(string(effects)) {
		f := strings.Fields(line)
		if len(f) != 6 {
			continue
		}
		keys.note(f[1], f[5])
		i, _ := strconv.Atoi(strings.TrimPrefix(f[1], "n"))
		if i < latest && c.blobs != nil { // one node runs after the other
			c.Repeated++
			c.complain("%s ran again after n%d", f[1], latest)
		}
		latest = max(latest, i)
	}
	c.verifyKeys(keys)
}

// verifyNothingIsOpen checks that every workflow of the server ends: attempts without a sender when their lease does.
func (c *onCluster) verifyNothingIsOpen() {
	var open []string
	var err error
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(250 * time.Millisecond) {
		if open, err = c.server.Open(); err == nil && len(open) == 0 {
			return
		}
	}
	c.Left += len(open)
	c.complain("workflows are open: %v %v", open, err)
}
