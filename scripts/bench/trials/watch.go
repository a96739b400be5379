package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// The runs of a trial of the stream, and the most that are live at the same time.
const (
	watchedRuns = 100
	watchedLive = 4
)

// stream is what a consumer of pflow-exec watch keeps of the streams that it has read.
type stream struct {
	t *trial
	// lines are the lines of each run, ended the runs that have ended.
	lines map[string][]string
	ended map[string]bool
}

// watch starts runs beside each other. It kills some of them, and again and again the stream of pflow-exec watch, which goes on
// after the runs that have ended in it. In the end the streams have each line of each journal.
func (t *trial) watch() error {
	t.file = filepath.Join(t.dir, "workflow.json")
	if err := os.WriteFile(t.file, []byte(`{"nodes":[{"id":"a","type":"echo"},{"id":"b","type":"echo","params":{"data":"${a.echo}"}}]}`), 0o600); err != nil {
		return err
	}
	s := &stream{t, map[string][]string{}, map[string]bool{}}
	watch, err := t.start("", "watch", "--since", s.since())
	if err != nil {
		return err
	}
	var live []*call
	for left := watchedRuns; left > 0 || len(live) > 0; {
		time.Sleep(t.soon(10 * time.Millisecond))
		live = slices.DeleteFunc(live, func(c *call) bool {
			select {
			case <-c.ended:
				return true
			default:
				return false
			}
		})
		switch {
		case t.rng.IntN(10) == 0:
			s.read(watch)
			t.Kills++
			if watch, err = t.start("", "watch", "--since", s.since()); err != nil {
				return err
			}
		case len(live) > 0 && t.rng.IntN(10) == 0:
			_ = live[t.rng.IntN(len(live))].cmd.Process.Kill()
		case left > 0 && len(live) < watchedLive:
			c, err := t.start("", "run", t.file, "--quiet")
			if err != nil {
				return err
			}
			live, left = append(live, c), left-1
		}
	}
	for deadline := time.Now().Add(patience); !s.complete() && time.Now().Before(deadline); {
		time.Sleep(lockTime)
		s.read(watch)
		if watch, err = t.start("", "watch", "--since", s.since()); err != nil {
			return err
		}
	}
	s.read(watch)
	s.verify()
	return nil
}

// lockTime is the time within which a watch notices that a process was killed.
const lockTime = 2 * time.Second

// read kills a watch and adds what it has printed.
func (s *stream) read(watch *call) {
	_ = watch.cmd.Process.Kill()
	s.t.wait(watch)
	text, _ := os.ReadFile(watch.stdout)
	if err := quote(watch.stderr); err != "" {
		s.t.complain("%s says %s", watch, err)
	}
	seen := map[string]int{} // the last event of each run in this stream
	for line := range strings.Lines(string(text[:bytes.LastIndexByte(text, '\n')+1])) {
		var e event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			s.t.complain("%s prints %q", watch, line)
			continue
		}
		if e.Event == "run_interrupted" {
			s.ended[e.Run] = true
			continue
		}
		known := s.lines[e.Run]
		switch {
		case e.Seq != seen[e.Run]+1 || e.Seq > len(known)+1:
			s.t.complain("event %d of run %s comes after %d, when %d are known", e.Seq, e.Run, seen[e.Run], len(known))
		case e.Seq <= len(known) && known[e.Seq-1] != line:
			s.t.complain("event %d of run %s was %s and is %s", e.Seq, e.Run, known[e.Seq-1], line)
		case e.Seq > len(known):
			s.lines[e.Run] = append(known, line)
		}
		seen[e.Run] = e.Seq
		s.ended[e.Run] = s.ended[e.Run] || e.Event == "run_finished"
	}
}

// since returns the newest run up to which all runs have ended.
func (s *stream) since() string {
	since := "r0"
	var ids []string
	for id := range s.lines {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		if !s.ended[id] {
			break
		}
		since = id
	}
	return since
}

// complete reports whether all runs have ended in the streams.
func (s *stream) complete() bool {
	return !slices.ContainsFunc(s.t.runs(), func(id string) bool { return !s.ended[id] })
}

// verify compares the streams with the journals.
func (s *stream) verify() {
	for _, id := range s.t.runs() {
		text, err := os.ReadFile(filepath.Join(s.t.home, "runs", id, "journal.ndjson"))
		if err != nil {
			s.t.complain("%v", err)
		}
		if want := string(text[:bytes.LastIndexByte(text, '\n')+1]); strings.Join(s.lines[id], "") != want || !s.ended[id] {
			s.t.complain("run %s has %d lines, the streams have %d; ended: %t", id, strings.Count(want, "\n"), len(s.lines[id]), s.ended[id])
		}
	}
}
