package suite

import (
	"bytes"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestCompletionsFailSilently completes in a home whose files are garbage, and for a workflow that is a FIFO without a writer.
func TestCompletionsFailSilently(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	for _, name := range []string{"settings.json", "registry.json", "mcp-servers.json", "library/hello.json", "runs/r01aaaaaaaaaaaaaaaaaaaaaaaaaa/journal.ndjson"} {
		p.write("home/"+name, "{\x00garbage")
	}
	if err := syscall.Mkfifo(filepath.Join(p.dir, "fifo.json"), 0o600); err != nil {
		t.Fatal(err)
	}
	before := p.files()
	for line, want := range map[string]string{ // a part of the answer
		"pflow-exec|run|":                  "hello\t",
		"pflow-exec|run|hello|":            "",
		"pflow-exec|run|./fifo.json|":      "",
		"pflow-exec|show|":                 "",
		"pflow-exec|show|last|":            "",
		"pflow-exec|node|":                 "",
		"pflow-sync|show|":                 "",
		"pflow-sync|call|x|":               "",
		"pflow-exec|--version":             "c--version\t",
		"pflow-exec|detac":                 "f",
		"pflow-lib|no-such-command|--x=|y": "",
		"pflow-otel|":                      "",
		"pflow-temporal|worker|":           "",
		"veloflux-mcp|call|":               "",
	} {
		words := strings.Split(line, "|")
		for _, home := range []string{p.home, "/dev/null/none"} {
			cmd := p.command(words[0], words[1:]...)
			cmd.Env = append(cmd.Env, "PFLOW_HOME="+home, "PFLOW_COMPLETE=zsh")
			var stdout, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			if err := cmd.Run(); err != nil || stderr.Len() > 0 || home == p.home && !strings.Contains(stdout.String(), want) {
				t.Errorf("%s with the home %s: %v, %q, %q", line, home, err, stdout.String(), stderr.String())
			}
		}
	}
	p.checkUnchanged(before)
}
