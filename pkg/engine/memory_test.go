package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/pflow-suite/pflow/pkg/engine"
	"github.com/pflow-suite/pflow/pkg/engine/node"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/check"
)

// memoryJournal is a journal in memory.
type memoryJournal struct {
	run string
	now func() time.Time

	mu    sync.Mutex
	text  bytes.Buffer
	seq   int64
	blobs map[string][]byte
}

func newMemoryJournal(run string, now func() time.Time) *memoryJournal {
	return &memoryJournal{run: run, now: now, blobs: map[string][]byte{}}
}

func (j *memoryJournal) Append(e *event.Event) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.seq++
	e.V, e.Run, e.Seq, e.Time, e.At = event.Version, j.run, j.seq, j.now().UTC(), int64(j.text.Len())
	line, err := e.Line()
	if err == nil {
		_, err = j.text.Write(line)
	}
	return err
}

func (j *memoryJournal) Line(at int64) ([]byte, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	rest := j.text.Bytes()[at:]
	return bytes.Clone(rest[:bytes.IndexByte(rest, '\n')+1]), nil
}

func (j *memoryJournal) PutBlob(content []byte) (string, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	ref := event.Digest(content)
	j.blobs[ref] = bytes.Clone(content)
	return ref, nil
}

func (j *memoryJournal) NewBlob() (event.Blob, error) { return &memoryBlob{journal: j}, nil }

func (j *memoryJournal) NewScratch() (event.Scratch, error) { return &memoryBlob{journal: j}, nil }

func (j *memoryJournal) Blob(ref string) ([]byte, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.blobs[ref], nil
}

func (j *memoryJournal) OpenBlob(ref string, _ int) (io.ReadCloser, error) {
	content, err := j.Blob(ref)
	return io.NopCloser(bytes.NewReader(content)), err
}

func (j *memoryJournal) Log(string, string) io.WriteCloser { return nopCloser{io.Discard} }

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

type memoryBlob struct {
	bytes.Buffer
	journal *memoryJournal
}

func (b *memoryBlob) Keep() (string, error) { return b.journal.PutBlob(b.Bytes()) }
func (b *memoryBlob) Discard()              {}
func (b *memoryBlob) Close() error          { return nil }

func (b *memoryBlob) ReadAt(p []byte, at int64) (int, error) {
	return bytes.NewReader(b.Bytes()).ReadAt(p, at)
}
func (b *memoryBlob) Content(size int) ([]byte, error) { return b.Bytes()[:size], nil }
func (b *memoryBlob) Open(size int) (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(b.Bytes()[:size])), nil
}

// inMemory is the config of a run of a workflow whose journal is in memory.
func inMemory(t testing.TB, definition string, now func() time.Time) (engine.Config, *memoryJournal) {
	t.Helper()
	file, err := workflow.Parse("w.json", []byte(definition))
	if err != nil {
		t.Fatal(err)
	}
	report := check.Workflow(file, builtin{}, func(*workflow.File, string) (*workflow.File, error) { return nil, nil })
	if f := report.Fault("w"); f != nil {
		t.Fatal(f)
	}
	j := newMemoryJournal("rtest", now)
	return engine.Config{
		RunID: j.run, Journal: j, Flow: subOf(report), Jobs: 4, Redactor: redact.New(), Log: slog.New(slog.DiscardHandler),
		Started: event.Workflow{Name: "w", Definition: file.Source}, Inputs: map[string]json.RawMessage{},
		Host: node.Host{Dir: "/", Env: []string{"PATH=/usr/bin:/bin"}},
	}, j
}

// runInMemory runs a config to a completed end.
func runInMemory(t testing.TB, c engine.Config) *event.Event {
	t.Helper()
	last, err := engine.Run(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	if last.Status != event.Completed {
		t.Fatalf("%s: %+v", last.Status, last.Error)
	}
	return last
}
