package journal

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// TestSpecialFiles: no program waits for the writer of a pipe that is in place of a file of a run, and gc removes such a run.
func TestSpecialFiles(t *testing.T) {
	for _, name := range []string{journalFile, lockFile, workflowFile, originFile, successorFile} {
		t.Run(name, func(t *testing.T) {
			h := tempHome(t)
			id := past(t, h, day, begun, finished)
			path := filepath.Join(At(h, id).dir, name)
			_ = os.Remove(path)
			if err := syscall.Mkfifo(path, 0o600); err != nil {
				t.Skip(err)
			}
			done := make(chan struct{})
			go func() {
				defer close(done)
				r := At(h, id)
				_, _, err := r.Status()
				if name == journalFile && fault.From(err).Type != fault.Validation {
					t.Error(err)
				}
				r.ResumePoint()
				r.FailureReason()
				if _, err := r.Definition(); (err != nil) != (name == workflowFile) {
					t.Error(err)
				}
				if err := r.Follow(context.Background(), func([]byte) error { return nil }); (err != nil) != (name == journalFile) {
					t.Error(err)
				}
				if got, err := Collect(h, Limits{OlderThan: 0, Keep: -1}, time.Now()); err != nil || got.Failed != nil || len(got.Removed) != 1 {
					t.Errorf("%+v %v", got, err)
				}
			}()
			select {
			case <-done:
			case <-time.After(5 * time.Minute):
				t.Fatal("a program waits for a writer")
			}
		})
	}
}
