package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// lines returns the lines of a run with such events.
func lines(run string, events ...string) string {
	text := ""
	for i, e := range events {
		text += fmt.Sprintf(`{"v":1,"seq":%d,"event":%q,"run":%q}`+"\n", i+1, e, run)
	}
	return text
}

func TestAnEventFileHasTheRunToGoOnFrom(t *testing.T) {
	ended := lines("r1", "run_started", "node_started", "node_completed", "run_finished")
	cut := lines("r2", "run_started", "node_reused", "node_started")
	none := lines("r3", "run_started", "node_reused")
	refused := lines("", "run_refused")
	for name, c := range map[string]struct{ text, want string }{
		"empty":                     {"", ""},
		"only a refusal":            {refused, ""},
		"a torn first line":         {ended[:30], ""},
		"one run":                   {ended, ended},
		"with a torn line":          {ended + cut[:20], ended},
		"with zeros":                {ended + "\x00\x00", ended},
		"the last of two":           {ended + cut, cut},
		"after a refusal":           {refused + cut, cut},
		"one that took over only":   {cut + none, cut},
		"several that did":          {cut + none + none, cut},
		"that followed another":     {ended + cut + none, cut},
		"nothing but such a one":    {none, none},
		"none that got any further": {none + none, none},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "f")
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			f, err := OpenEventFile(t.Context(), path, true)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			read, err := ReadEventFile(path) // though it is locked
			if err != nil {
				t.Fatal(err)
			}
			defer read.Close()
			for _, f := range []*EventFile{f, read} {
				got := ""
				if f.Run() != nil {
					b, err := io.ReadAll(f.Run())
					if err != nil {
						t.Fatal(err)
					}
					got = string(b)
				}
				if got != c.want {
					t.Errorf("%q, want %q", got, c.want)
				}
			}
			if _, err := OpenEventFile(t.Context(), path, false); fault.From(err) == nil || fault.From(err).Type != fault.Conflict {
				t.Errorf("opened twice: %v", err)
			}
			if err := f.Mend(); err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(f, none); err != nil {
				t.Fatal(err)
			}
			whole := c.text[:strings.LastIndex(c.text, "\n")+1]
			if b, err := os.ReadFile(path); err != nil || string(b) != whole+none {
				t.Errorf("%q %v", b, err)
			}
		})
	}
}

// Of a file that was only opened nothing is left. One that is taken away meanwhile is not used.
func TestAnEventFileThatIsNotWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	f, err := OpenEventFile(t.Context(), path, false)
	if err != nil || f.Run() != nil || f.Path() != path || !f.current() {
		t.Fatal(f, err)
	}
	if err := os.Remove(path); err != nil || f.current() {
		t.Errorf("it is removed: %v", err)
	}
	other, err := OpenEventFile(t.Context(), path, false)
	if err != nil {
		t.Fatal(err)
	}
	other.Close()
	f.Close()
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("left: %v", err)
	}
	if f, err := ReadEventFile(path); err != nil || f.Run() != nil {
		t.Errorf("%v %v", f, err)
	}
	_, err = OpenEventFile(t.Context(), filepath.Join(path, "absent"), false)
	if f := fault.From(err); f == nil || f.Type != fault.Usage {
		t.Errorf("%v", err)
	}
}

// A file that can no longer be written ends with its last whole line.
func TestAnEventFileOnAFullDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	f, err := OpenEventFile(t.Context(), path, false)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	line := lines("r1", "run_started")
	if _, err := io.WriteString(f, line); err != nil {
		t.Fatal(err)
	}
	if err := f.file.Close(); err != nil { // the next write fails
		t.Fatal(err)
	}
	for range 2 {
		if _, err := io.WriteString(f, line); err == nil || f.Err() == nil {
			t.Error("no error")
		}
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != line {
		t.Errorf("%q %v", b, err)
	}
	if err := syscall.Mkfifo(path+"2", 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenEventFile(t.Context(), path+"2", false); fault.From(err) == nil || fault.From(err).Type != fault.Usage {
		t.Errorf("a pipe: %v", err)
	}
}
