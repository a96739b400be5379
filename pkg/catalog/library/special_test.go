package library

import (
	"context"
	"errors"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// TestAFIFOAmongTheWorkflowsIsBroken: nothing opens it, also behind a link and as a file that a workflow refers to, because that would
// wait for a writer.
func TestAFIFOAmongTheWorkflowsIsBroken(t *testing.T) {
	_, h := open(t, map[string]string{
		"library/fine.json":   hello,
		"workflows/uses.json": `{"nodes": [{"id": "a", "type": "shell", "params": {"command": "cat", "stdin": "./pipe"}}]}`,
		"workflows/sub.json":  `{"nodes": [{"id": "a", "type": "workflow", "params": {"workflow": "./ff.json"}}]}`,
	})
	// A read that waits ends with the context.
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	h = h.WithContext(ctx)
	l := Open(h)
	err := errors.Join(syscall.Mkfifo(h.Path("workflows/ff.json"), 0o600), syscall.Mkfifo(h.Path("library/kept.pflow.md"), 0o600), syscall.Mkfifo(h.Path("workflows/pipe"), 0o600),
		os.Symlink("ff.json", h.Path("workflows/link.json")))
	if err != nil {
		t.Fatal(err)
	}
	list, err := l.List(true, "")
	if err != nil {
		t.Fatal(err)
	}
	var names, broken []string
	for _, w := range list {
		names = append(names, w.Name)
		if w.Error != nil {
			broken = append(broken, w.Name)
		}
	}
	if !slices.Equal(names, []string{"ff", "fine", "kept", "link", "sub", "uses"}) || !slices.Equal(broken, []string{"ff", "kept", "link", "uses"}) {
		t.Errorf("the list has %q, broken %q", names, broken)
	}
	for name, place := range map[string]string{"ff": "workflows/ff.json", "kept": "library/kept.pflow.md", "link": "workflows/link.json"} {
		_, _, err := l.Open(name, true, "", readFile)
		if f := fault.From(err); f == nil || f.Type != fault.Validation || f.File != place {
			t.Errorf("%s: %v", name, f)
		}
	}
	sub, err := l.Draft("sub")
	if err != nil {
		t.Fatal(err)
	}
	file, err := sub.Load()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.OpenSub(file, "./ff.json"); err == nil || fault.From(err).File != "workflows/ff.json" {
		t.Errorf("%v", err)
	}
	if _, err := l.RemoveDraft(t.Context(), "ff", ""); err != nil {
		t.Error(err)
	}
}

// TestAFIFOThatAPathNamesIsRead: it is what a shell makes of <(COMMAND).
func TestAFIFOThatAPathNamesIsRead(t *testing.T) {
	l, h := open(t, map[string]string{"workflows/d.json": hello})
	pipe := h.Path("workflows/pipe.json")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	written := make(chan error, 1)
	go func() { written <- os.WriteFile(pipe, []byte(hello), 0o600) }()
	file, _, err := l.Open(pipe, false, "", readFile)
	if err != nil || len(file.Workflow.Nodes) != 1 {
		t.Errorf("%v", err)
	}
	if err := <-written; err != nil {
		t.Error(err)
	}
}
