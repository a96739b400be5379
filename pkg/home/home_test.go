package home

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// On request the test program holds a lock of a home until its standard input ends.
func TestMain(m *testing.M) {
	dir := os.Getenv("HOME_TEST_LOCK")
	if dir == "" {
		os.Exit(m.Run())
	}
	h, err := Open(dir, "")
	if err != nil {
		panic(err)
	}
	err = h.Lock(context.Background(), "shared", func() error {
		fmt.Println("held")
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
		return nil
	})
	if err != nil {
		panic(err)
	}
}

func TestNames(t *testing.T) {
	for name, want := range map[string]fault.Type{
		"a": "", "my-workflow-2": "", "0": "", "a-b-c": "", strings.Repeat("a", 50): "",
		"": fault.Validation, strings.Repeat("a", 51): fault.Validation, "A": fault.Validation, "a_b": fault.Validation, "a b": fault.Validation,
		"-a": fault.Validation, "a-": fault.Validation, "a--b": fault.Validation, "ü": fault.Validation, "a.json": fault.Validation, ".": fault.Validation, "~": fault.Validation, "a\u200b": fault.Validation,
		"test": fault.Validation, "last": fault.Validation, "null": fault.Validation,
		"..": fault.Security, "../a": fault.Security, "a/../b": fault.Security, "a/b": fault.Security, "/etc/passwd": fault.Security, `..\a`: fault.Security, `C:\a`: fault.Security,
		"a\x00b": fault.Security, "a\nb": fault.Security, "a\x7f": fault.Security, "a..b": fault.Security,
	} {
		err := CheckName("workflow", name)
		f := fault.From(err)
		if want == "" {
			if err != nil {
				t.Errorf("%q: %v", name, err)
			}
			continue
		}
		if err == nil || f.Type != want || len(f.Suggestions) == 0 {
			t.Errorf("%q: %+v, want %s", name, f, want)
			continue
		}
		if want == fault.Security && strings.Contains(f.Error()+strings.Join(f.Suggestions, ""), name) {
			t.Errorf("%q: %s", name, f)
		}
	}
	if err := CheckName("server", "test"); err != nil {
		t.Errorf("only workflows have reserved names: %v", err)
	}
}

func TestSuggestedNamesAreAllowed(t *testing.T) {
	for _, kind := range []string{"workflow", "server"} {
		for _, name := range []string{"My Workflow", "TEST", "_", "ü", "Last!"} {
			f := fault.From(CheckName(kind, name))
			if f == nil {
				t.Fatalf("%q is allowed", name)
			}
			_, suggested, _ := strings.Cut(f.Suggestions[0], "such as ")
			if err := CheckName(kind, suggested); err != nil {
				t.Errorf("%s %q: suggests %q: %v", kind, name, suggested, err)
			}
		}
	}
}

func TestCleanName(t *testing.T) {
	for name, want := range map[string]string{
		"": "", "a": "a", "My Server": "my-server", "__a__B": "a-b", "@scope/pkg": "scope-pkg", "ü": "", "../../x": "x", strings.Repeat("a", 49) + "-b": strings.Repeat("a", 49),
	} {
		if got := CleanName(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.String().Draw(t, "name")
		clean := CleanName(name)
		if clean != "" && CheckName("server", clean) != nil || CleanName(clean) != clean {
			t.Fatalf("%q: %q", name, clean)
		}
	})
}

func TestOpen(t *testing.T) {
	for _, c := range [][3]string{{"/home", "/user", "/home"}, {"", "/user", "/user/.pflow"}} {
		if h, err := Open(c[0], c[1]); err != nil || h.Dir() != c[2] {
			t.Errorf("%v: %v %v", c, h, err)
		}
	}
	if h, err := Open("relative", ""); err != nil || !filepath.IsAbs(h.Dir()) {
		t.Errorf("%v %v", h, err)
	}
	if _, err := Open("", ""); fault.From(err) == nil || fault.From(err).Type != fault.Usage {
		t.Errorf("%v", err)
	}
}

func home(t *testing.T) *Home {
	t.Helper()
	h, err := Open(filepath.Join(t.TempDir(), "home"), "")
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestWriteAndRead(t *testing.T) {
	h := home(t)
	if b, err := h.Read("a", "b.json"); b != nil || err != nil {
		t.Errorf("a missing file: %q %v", b, err)
	}
	if _, err := os.Stat(h.Dir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("reading made the home: %v", err)
	}
	old := syscall.Umask(0o077)
	defer syscall.Umask(old)
	for _, text := range []string{"first, and longer", "second"} {
		if err := h.Write([]byte(text), 0o600, "a", "b.json"); err != nil {
			t.Fatal(err)
		}
		if b, err := h.Read("a", "b.json"); err != nil || string(b) != text {
			t.Errorf("%q %v", b, err)
		}
	}
	for path, want := range map[string]fs.FileMode{h.Dir(): fs.ModeDir | 0o700, h.Path("a"): fs.ModeDir | 0o700, h.Path("a", "b.json"): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode() != want {
			t.Errorf("%s: %v %v, want %v", path, info.Mode(), err, want)
		}
	}
	if entries, err := os.ReadDir(h.Path("a")); err != nil || len(entries) != 1 {
		t.Errorf("left over: %v %v", entries, err)
	}
}

// A reader always sees a whole file while others write.
func TestWritersDoNotMix(t *testing.T) {
	h := home(t)
	texts := []string{strings.Repeat("a", 100_000), strings.Repeat("b", 50_000), "c"}
	if err := h.Write([]byte(texts[0]), 0o600, "f"); err != nil {
		t.Fatal(err)
	}
	var writers sync.WaitGroup
	for _, text := range texts {
		writers.Go(func() {
			for range 20 {
				if err := h.Write([]byte(text), 0o600, "f"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 200 {
		if b, err := h.Read("f"); err != nil || !slices.Contains(texts, string(b)) {
			t.Fatalf("%d bytes, %v", len(b), err)
		}
	}
	writers.Wait()
	if entries, err := os.ReadDir(h.Dir()); err != nil || len(entries) != 1 {
		t.Errorf("left over: %v %v", entries, err)
	}
}

func TestABrokenHomeIsAFaultWithoutAPath(t *testing.T) {
	file := filepath.Join(t.TempDir(), "no-folder")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	h, err := Open(file, "")
	if err != nil {
		t.Fatal(err)
	}
	_, makeErr := h.Make("x")
	_, readErr := h.Read("x")
	for what, err := range map[string]error{
		"make": makeErr, "read": readErr, "write": h.Write(nil, 0o600, "x"), "lock": h.Lock(t.Context(), "x", func() error { return nil }),
	} {
		f := fault.From(err)
		if f == nil || f.Type != fault.Internal || !strings.Contains(f.Message, "not a directory") || strings.Contains(f.Message, file) || len(f.Suggestions) == 0 {
			t.Errorf("%s: %+v", what, f)
		}
	}
}

func TestLockKeepsGoroutinesApart(t *testing.T) {
	h := home(t)
	var all sync.WaitGroup
	var inside, n atomic.Int32 // the race detector knows nothing of locks on files
	for range 8 {
		all.Go(func() {
			for range 5 {
				err := h.Lock(t.Context(), "shared", func() error {
					if holders := inside.Add(1); holders != 1 {
						t.Errorf("%d hold the lock", holders)
					}
					n.Add(1)
					inside.Add(-1)
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if n.Load() != 40 {
		t.Errorf("%d of 40", n.Load())
	}
	why := errors.New("from inside")
	if err := h.Lock(t.Context(), "shared", func() error { return why }); !errors.Is(err, why) {
		t.Errorf("%v", err)
	}
}

func TestLockKeepsProcessesApart(t *testing.T) {
	h := home(t)
	child := exec.Command(os.Args[0])
	child.Env = []string{"HOME_TEST_LOCK=" + h.Dir()}
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = child.Process.Kill() }()
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "held\n" {
		t.Fatalf("%q %v", line, err)
	}
	// If the context ends, the error is its cause, not the lock.
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("interrupted")
	timer := time.AfterFunc(20*time.Millisecond, func() { cancel(why) })
	defer timer.Stop()
	if err := h.Lock(ctx, "shared", func() error { t.Error("it ran"); return nil }); !errors.Is(err, why) {
		t.Errorf("%v", err)
	}
	if err := h.Lock(t.Context(), "another", func() error { return nil }); err != nil {
		t.Errorf("a lock of another name: %v", err)
	}
	got := make(chan error, 1)
	go func() { got <- h.Lock(t.Context(), "shared", func() error { return nil }) }()
	select {
	case err := <-got:
		t.Fatalf("two hold the lock: %v", err)
	default:
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(<-got, child.Wait()); err != nil {
		t.Error(err)
	}
}

func TestReservedNamesAreNames(t *testing.T) {
	if !slices.IsSorted(Reserved) {
		t.Errorf("%v", Reserved)
	}
	form := regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	for _, name := range Reserved {
		if !form.MatchString(name) {
			t.Errorf("%s is refused already", name)
		}
	}
}

func TestWriteLeavesALinkAndReplacesWhatItLeadsTo(t *testing.T) {
	for name, links := range map[string]map[string]string{
		"absolute": {"home/settings.json": "DIR/dotfiles/s.json"}, "relative": {"home/settings.json": "../dotfiles/s.json"},
		"two": {"home/settings.json": "../dotfiles/link", "dotfiles/link": "s.json"},
	} {
		for _, before := range []string{"old", ""} { // also where there is no file yet
			t.Run(name+before, func(t *testing.T) {
				dir := t.TempDir()
				h, err := Open(filepath.Join(dir, "home"), "")
				if err != nil {
					t.Fatal(err)
				}
				for _, folder := range []string{"home", "dotfiles"} {
					if err := os.Mkdir(filepath.Join(dir, folder), 0o700); err != nil {
						t.Fatal(err)
					}
				}
				for link, to := range links {
					if err := os.Symlink(strings.Replace(to, "DIR", dir, 1), filepath.Join(dir, link)); err != nil {
						t.Fatal(err)
					}
				}
				target := filepath.Join(dir, "dotfiles/s.json")
				if before != "" {
					if err := os.WriteFile(target, []byte(before), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				if err := h.Write([]byte("new"), 0o600, "settings.json"); err != nil {
					t.Fatal(err)
				}
				info, err := os.Lstat(target)
				if err != nil || info.Mode() != 0o600 {
					t.Error(info.Mode(), err)
				}
				if link, err := os.Lstat(h.Path("settings.json")); err != nil || link.Mode()&fs.ModeSymlink == 0 {
					t.Error("the link is gone", err)
				}
				if text, err := h.Read("settings.json"); err != nil || string(text) != "new" {
					t.Errorf("%q %v", text, err)
				}
				if left, err := os.ReadDir(filepath.Join(dir, "dotfiles")); err != nil || len(left) != len(links) {
					t.Error(left, err)
				}
			})
		}
	}
	h, err := Open(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("a", h.Path("a")); err != nil {
		t.Fatal(err)
	}
	if err := h.Write([]byte("x"), 0o600, "a"); err == nil {
		t.Error("a link to itself was replaced")
	}
}

func TestAFolderInPlaceOfAFileIsNamed(t *testing.T) {
	h, err := Open(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, elem := range [][]string{{"settings.json"}, {"stats", "x.json"}} {
		if _, err := h.Make(elem...); err != nil {
			t.Fatal(err)
		}
		_, readErr := h.Read(elem...)
		writeErr := h.Write(nil, 0o600, elem...)
		for _, err := range []error{readErr, writeErr} {
			if f := fault.From(err); f == nil || !strings.Contains(f.Message, filepath.Join(elem...)) || strings.Contains(f.Message, h.Dir()) {
				t.Errorf("%q: %v", elem, err)
			}
		}
	}
}
