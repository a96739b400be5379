package veloflux

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/gofrs/flock"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// traceWriter names the trace that a re-executed test binary writes to.
const traceWriter = "TRACE_TEST_WRITER"

const (
	traceWriters, traceLines = 8, 2000
	traceSize, traceKeep     = 64 << 10, 1000
)

func TestSeveralProcessesLoseAndTearNothing(t *testing.T) {
	if path := os.Getenv(traceWriter); path != "" {
		writeLines(t, path)
		return
	}
	path := filepath.Join(t.TempDir(), "traces", "t.ndjson")
	var all sync.WaitGroup
	for i := range traceWriters {
		all.Go(func() {
			cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.count=1")
			cmd.Env = append(os.Environ(), traceWriter+"="+path, fmt.Sprintf("TRACE_TEST_NAME=w%d", i))
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	all.Wait()
	files := countLines(t, path, traceWriters*traceLines)
	if files < 3 {
		t.Errorf("only %d files: hardly a rotation", files)
	}
}

func writeLines(t *testing.T, path string) {
	sink, err := OpenFileSink(path, traceSize, traceKeep)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = sink.Close() }()
	for i := range traceLines {
		args := fmt.Sprintf(`{"i":%d,"pad":%q}`, i, strings.Repeat("x", i%300))
		if err := sink.Record(Entry{Kind: KindToolCall, Name: os.Getenv("TRACE_TEST_NAME"), OK: true, Args: json.RawMessage(args)}); err != nil {
			t.Fatal(err)
		}
	}
}

// countLines asserts that each line is once in all files of a trace. How far a file exceeds its size depends on how long
// the process that rotates it is held up.
func countLines(t *testing.T, path string, want int) (files int) {
	t.Helper()
	seen := map[string]int{}
	names, err := filepath.Glob(path + "*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, ".lock") {
			continue
		}
		files++
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for lines := bufio.NewScanner(bytes.NewReader(b)); lines.Scan(); {
			var e struct {
				Name string
				Args struct{ I int }
			}
			if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
				t.Fatalf("%s: %v: %q", name, err, lines.Text())
			}
			seen[fmt.Sprint(e.Name, " ", e.Args.I)]++
		}
	}
	if len(seen) != want {
		t.Errorf("%d lines of %d", len(seen), want)
	}
	for line, n := range seen {
		if n != 1 {
			t.Errorf("%s is there %d times", line, n)
		}
	}
	return files
}

func openTrace(t *testing.T, path string, maxBytes int64, keep int) *FileSink {
	t.Helper()
	sink, err := OpenFileSink(path, maxBytes, keep)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sink.Close() })
	return sink
}

func recordTo(t *testing.T, sink *FileSink, name string) {
	t.Helper()
	if err := sink.Record(Entry{Name: name}); err != nil {
		t.Fatal(err)
	}
}

func wantNames(t *testing.T, path string, want ...string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got := []string{}
	for line := range strings.Lines(string(b)) {
		var e Entry
		if json.Unmarshal([]byte(line), &e) != nil {
			e.Name = line
		}
		got = append(got, e.Name)
	}
	if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
		t.Errorf("%s has %q, want %q", filepath.Base(path), got, want)
	}
}

func wantMode(t *testing.T, path string, want fs.FileMode) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != want {
		t.Errorf("%s: %v %v, want %v", path, info.Mode().Perm(), err, want)
	}
}

func TestTraceIsPrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	path := filepath.Join(dir, "t")
	recordTo(t, openTrace(t, path, 0, 1), "1")
	wantMode(t, dir, 0o700)
	wantMode(t, filepath.Dir(dir), 0o700)
	wantMode(t, path, 0o600)
	wantMode(t, path+".lock", 0o600)
	if err := os.Chmod(path, 0o664); err != nil {
		t.Fatal(err)
	}
	recordTo(t, openTrace(t, path, 0, 1), "2")
	wantMode(t, path, 0o600)
	wantNames(t, path, "1", "2")
}

func TestRotation(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t")
	sink := openTrace(t, path, 1, 2)
	for _, name := range []string{"1", "2", "3", "4"} {
		recordTo(t, sink, name)
	}
	wantNames(t, path, "4")
	wantNames(t, path+".1", "3")
	wantNames(t, path+".2", "2")
	wantMode(t, path, 0o600)
	if _, err := os.Stat(path + ".3"); !errors.Is(err, fs.ErrNotExist) {
		t.Error("more are kept than 2")
	}
	if err := os.Remove(path + ".1"); err != nil {
		t.Fatal(err)
	}
	recordTo(t, sink, "5")
	wantNames(t, path+".1", "4")
	wantNames(t, path+".2", "2") // a gap is filled first

	none := openTrace(t, filepath.Join(t.TempDir(), "t"), 1, 0)
	recordTo(t, none, "1")
	recordTo(t, none, "2")
	wantNames(t, none.path, "2")
}

func TestFileMovedOrDeletedIsReopened(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	path := filepath.Join(dir, "t")
	sink := openTrace(t, path, 0, 1)
	recordTo(t, sink, "1")
	if err := os.Rename(path, path+".moved"); err != nil {
		t.Fatal(err)
	}
	recordTo(t, sink, "2")
	wantNames(t, path+".moved", "1")
	wantNames(t, path, "2")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	recordTo(t, openTrace(t, path, 0, 1), "another's")
	recordTo(t, sink, "3")
	wantNames(t, path, "another's", "3")
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := sink.Record(Entry{Name: "4"}); err != nil {
		t.Fatal(err)
	}
	wantNames(t, path, "4")
}

func TestLineThatWasTornStaysAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t")
	if err := os.WriteFile(path, []byte(`{"ts_ms":1,"ki`), 0o600); err != nil {
		t.Fatal(err)
	}
	sink := openTrace(t, path, 0, 1)
	recordTo(t, sink, "1")
	recordTo(t, sink, "2")
	wantNames(t, path, `{"ts_ms":1,"ki`+"\n", "1", "2")
}

func TestNobodyWaitsForARotation(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t")
	sink := openTrace(t, path, 1, 3)
	recordTo(t, sink, "1")
	other := flock.New(path + ".lock")
	if ok, err := other.TryLock(); !ok {
		t.Fatal(err)
	}
	recordTo(t, sink, "2")
	wantNames(t, path, "1", "2")
	if err := other.Unlock(); err != nil {
		t.Fatal(err)
	}
	recordTo(t, sink, "3")
	wantNames(t, path, "3")
	wantNames(t, path+".1", "1", "2")
}

func TestRotationThatFailsKeepsTheLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t")
	sink := openTrace(t, path, 1, 1)
	recordTo(t, sink, "1")
	if err := os.MkdirAll(filepath.Join(path+".1", "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := sink.Record(Entry{Name: "2"}); err == nil || !strings.Contains(err.Error(), path) {
		t.Error(err)
	}
	wantNames(t, path, "1", "2")
}

func TestWhatIsNoTrace(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := syscall.Mkfifo(at("fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		os.WriteFile(at("file"), nil, 0o600),
		os.Mkdir(at("folder"), 0o700),
		os.Symlink(at("nowhere"), at("dangling")),
		os.Symlink(at("fifo"), at("to fifo")),
		os.Symlink(os.DevNull, at("to device")),
		os.Symlink(at("loop"), at("loop")),
		os.WriteFile(at("locked by fifo"), nil, 0o600),
		os.Symlink(at("file"), at("lock is a link.lock")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"fifo": "named pipe", "folder": "directory", "dangling": "no such file", "to fifo": "symbolic link", "to device": "symbolic link",
		"loop": "too many links", "file/below": "not a directory", "lock is a link": "symbolic link",
	} {
		sink, err := OpenFileSink(at(name), 0, 1)
		if sink != nil || err == nil {
			t.Errorf("%s was opened", name)
			continue
		}
		if f := fault.From(err); f.Type != fault.Usage || !strings.Contains(f.Message, want) || !strings.Contains(f.Message, at(name)) || len(f.Suggestions) == 0 {
			t.Errorf("%s: %s %v", name, f.Message, f.Suggestions)
		}
	}
}

func TestLinkToATrace(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(target, nil, 0o644), os.Symlink(target, link)); err != nil {
		t.Fatal(err)
	}
	sink := openTrace(t, link, 1, 1)
	recordTo(t, sink, "1")
	recordTo(t, sink, "2")
	wantMode(t, target, 0o600)
	wantNames(t, link, "2")
	wantNames(t, target+".1", "1")
	if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Error("the link was rotated itself")
	}
}

func TestFullDiskIsReported(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip(err)
	}
	sink := openTrace(t, "/dev/full", 1, 1)
	var reported []string
	tr := newTracer(sink, SQLRaw, allTools(), nil, func(err error) { reported = append(reported, err.Error()) })
	for range 3 {
		tr.record(KindToolCall, "x", nil, timeOfTest, false, nil)
	}
	if len(reported) != 1 || reported[0] != "The trace /dev/full could not be written: no space left on device" {
		t.Errorf("%q", reported)
	}
	if _, err := os.Stat("/dev/full.lock"); err == nil {
		t.Error("a device has a lock file")
	}
}

func TestClosedTrace(t *testing.T) {
	sink := openTrace(t, filepath.Join(t.TempDir(), "t"), 0, 1)
	if err := errors.Join(sink.Close(), sink.Close()); err != nil {
		t.Error(err)
	}
	if err := sink.Record(Entry{}); err == nil {
		t.Error("recorded after Close")
	}
}

func TestLineAfterOneThatDidNotFit(t *testing.T) {
	if path := os.Getenv(traceWriter); path != "" {
		fillUp(t, path)
		return
	}
	path := filepath.Join(t.TempDir(), "t")
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.count=1")
	cmd.Env = append(os.Environ(), traceWriter+"="+path)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(b), "\n")
	if len(lines) != 4 || !strings.Contains(lines[0], `"name":"1"`) || len(lines[0])+len(lines[1]) != 401 || !strings.Contains(lines[2], `"name":"2"`) {
		t.Errorf("%q", lines)
	}
}

// fillUp records to a file whose size is limited, which stands for a full disk.
func fillUp(t *testing.T, path string) {
	signal.Ignore(syscall.SIGXFSZ)
	sink := openTrace(t, path, 0, 1)
	recordTo(t, sink, "1")
	var unlimited syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &unlimited); err != nil {
		t.Fatal(err)
	}
	limit := unlimited
	limit.Cur = 400
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	if err := sink.Record(Entry{Name: strings.Repeat("x", 500)}); err == nil || !strings.Contains(err.Error(), "file too large") {
		t.Error(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &unlimited); err != nil {
		t.Fatal(err)
	}
	recordTo(t, sink, "2")
}

func TestLinkToAnothersFile(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file away")
	}
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(target, nil, 0o600), os.Chown(target, 12345, -1), os.Symlink(target, link)); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenFileSink(link, 0, 1); err == nil || !strings.Contains(err.Error(), link+": it is a symbolic link") {
		t.Error(err)
	}
}
