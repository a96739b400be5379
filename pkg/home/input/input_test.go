package input

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// endless has no end.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestRead(t *testing.T) {
	for _, n := range []int{0, 1, 4096, 4097, 100_000} {
		text := strings.Repeat("x", n)
		for name, r := range map[string]io.Reader{"whole": strings.NewReader(text), "last bytes with EOF": iotest.DataErrReader(strings.NewReader(text)), "half": iotest.HalfReader(strings.NewReader(text))} {
			if got, err := Read(t.Context(), r, "it", int64(n)); err != nil || string(got) != text || got == nil {
				t.Errorf("%d bytes, %s: %d bytes, %v", n, name, len(got), err)
			}
		}
		if n == 0 {
			continue
		}
		got, err := Read(t.Context(), strings.NewReader(text), "it", int64(n-1))
		if f := fault.From(err); got != nil || err == nil || f.Type != fault.Validation || f.ExitStatus() != 2 || !strings.Contains(f.Message, "it ") {
			t.Errorf("%d bytes of %d: %d bytes, %v", n, n-1, len(got), err)
		}
	}
	_, err := Read(t.Context(), endless{}, "it", 3<<20)
	if f := fault.From(err); f == nil || f.Type != fault.Validation || !strings.Contains(f.Message, "3 MiB") {
		t.Errorf("%v", err)
	}
	broken := errors.New("broken")
	if _, err := Read(t.Context(), io.MultiReader(strings.NewReader("x"), iotest.ErrReader(broken)), "it", 9); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := File(ended, path, "it", 4); err != nil || string(got) != "text" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := File(t.Context(), path, "it", 3); err == nil || fault.From(err).Type != fault.Validation {
		t.Errorf("%v", err)
	}
	if _, err := File(t.Context(), "/dev/zero", "it", 1<<20); err == nil || fault.From(err).Type != fault.Validation {
		t.Errorf("%v", err)
	}
	if _, err := File(t.Context(), path+"?", "it", 3); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
	if _, err := File(t.Context(), filepath.Dir(path), "it", 1<<20); !errors.Is(err, syscall.EISDIR) {
		t.Errorf("%v", err)
	}
}

// A read that waits ends with its context: of a pipe without a writer, and of one whose writer is silent.
func TestAReadEndsWithItsContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	cause := errors.New("the cause")
	read := func(prepare func()) {
		t.Helper()
		ctx, cancel := context.WithCancelCause(t.Context())
		done := make(chan error)
		go func() {
			_, err := File(ctx, path, "it", 10)
			done <- err
		}()
		prepare()
		cancel(cause)
		if err := <-done; !errors.Is(err, cause) {
			t.Errorf("%v", err)
		}
	}
	read(func() {})
	var writer *os.File
	read(func() {
		var err error
		if writer, err = os.OpenFile(path, os.O_WRONLY, 0); err != nil { // waits until the reader has opened it
			t.Error(err)
		}
		_, _ = writer.WriteString("part")
	})
	_ = writer.Close()
}

func TestReaderPassesOnEverything(t *testing.T) {
	want := bytes.Repeat([]byte("0123456789"), 50_000)
	got, err := io.ReadAll(iotest.OneByteReader(Reader(t.Context(), bytes.NewReader(want))))
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}
