package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// supervisor is a loop of the shell that brings a run to its end, however often it is killed.
const supervisor = `while "$0" "$@"; [ $? -eq 137 ]; do :; done`

// checkpoint is the file of events with which the supervisor runs a workflow.
const checkpoint = "run.ndjson"

// supervise starts the supervisor and kills the programs that it starts, each at a random moment.
func (t *trial) supervise() error {
	if err := t.prepare(); err != nil {
		return err
	}
	t.wrap = []string{"sh", "-c", supervisor}
	c, err := t.start("", t.flags("run", t.file, "--checkpoint", checkpoint)...)
	t.wrap = nil
	if err != nil {
		return err
	}
	c.supervised = true
	for range 1 + t.rng.IntN(mostKills) {
		at := t.moment()
		at.asked = 0 // it would end the loop
		if !t.reached(at, len(t.runs()), c.ended) {
			break
		}
		if pid := child(c.cmd.Process.Pid); pid > 0 && syscall.Kill(pid, syscall.SIGKILL) == nil {
			t.Kills++
			t.Resumes++
		}
	}
	t.wait(c)
	if c.killed || c.exit != 0 {
		t.Stuck++
		t.complain("%s: %s: %s", c, c.end(), quote(c.stderr))
	}
	c.before, c.began = t.runs(), time.Now()
	t.verifyCleaned(c)
	t.verify(c)
	t.verifyCheckpoint()
	return nil
}

// child returns the only child of a process, or 0.
func child(pid int) int {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	id, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return id
}

// verifyCheckpoint checks that the checkpoint file has the beginnings of all journals in their order, and all of the last one.
func (t *trial) verifyCheckpoint() {
	text, err := os.ReadFile(filepath.Join(t.dir, checkpoint))
	if err != nil {
		t.complain("no checkpoint file: %v", err)
		return
	}
	ids := t.runs()
	for i, id := range ids {
		j := t.journal(id)
		n := 0 // the length of the beginning that the file has
		for n < min(len(j.text), len(text)) && text[n] == j.text[n] {
			n++
		}
		if n = bytes.LastIndexByte(j.text[:n], '\n') + 1; n < len(j.text) && i == len(ids)-1 {
			t.complain("the checkpoint file has %d of the %d bytes of the journal of %s", n, len(j.text), id)
		}
		text = text[n:]
	}
	if len(text) > 0 {
		t.complain("the checkpoint file has %d bytes that no journal has: %.200s", len(text), text)
	}
}
