package store

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
)

// clock is a clock that a test sets.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) get() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func newHome(t *testing.T) *home.Home {
	t.Helper()
	h, err := home.Open(filepath.Join(t.TempDir(), "home"), "")
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func open(t *testing.T, h *home.Home, c *clock) *Store {
	t.Helper()
	s, err := Open(t.Context(), h, true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	s.Now = c.get
	return s
}

func newStore(t *testing.T) (*Store, *clock) {
	t.Helper()
	c := &clock{now: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)}
	return open(t, newHome(t), c), c
}

func add(t *testing.T, s *Store, workflow string) string {
	t.Helper()
	share, err := s.Add(t.Context(), workflow, true)
	if err != nil {
		t.Fatal(err)
	}
	return share.Token
}

// admits reports whether a run is admitted, and how long to wait if not.
func admits(t *testing.T, s *Store, token string) (ok bool, wait time.Duration) {
	t.Helper()
	_, err := s.Admit(t.Context(), token, false)
	if err == nil {
		return true, 0
	}
	f := fault.From(err)
	ms, _ := f.Details["retry_after_ms"].(int64)
	if f.Type != fault.RateLimited || !f.Retryable || ms <= 0 {
		t.Fatalf("%+v", f)
	}
	return false, time.Duration(ms) * time.Millisecond
}

func TestTenRunsInAnyMinute(t *testing.T) {
	s, c := newStore(t)
	token, other := add(t, s, "a"), add(t, s, "a")
	var times []time.Time
	for range 400 { // as fast as the limit allows, with steps that never fit a minute
		if ok, wait := admits(t, s, token); ok {
			times = append(times, c.get())
			c.add(1777 * time.Millisecond)
		} else {
			c.add(wait - time.Millisecond)
			if ok, _ := admits(t, s, token); ok {
				t.Fatal("admitted before the time that the fault names")
			}
			c.add(time.Millisecond)
			if ok, _ := admits(t, s, token); !ok {
				t.Fatal("not admitted at the time that the fault names")
			}
			times = append(times, c.get())
		}
		if len(times) == PerDay-1 {
			break
		}
	}
	for i := PerWindow; i < len(times); i++ {
		if d := times[i].Sub(times[i-PerWindow]); d < Window {
			t.Errorf("11 runs in %s", d)
		}
	}
	if ok, _ := admits(t, s, other); !ok {
		t.Error("the limit of one token holds for another")
	}
}

func TestAHundredRunsADay(t *testing.T) {
	s, c := newStore(t)
	first, second, elsewhere := add(t, s, "a"), add(t, s, "a"), add(t, s, "b")
	for i := range PerDay {
		a, err := s.Admit(t.Context(), []string{first, second}[i%2], false)
		if err != nil || a.Remaining != PerDay-i-1 || a.Share.Workflow != "a" {
			t.Fatalf("%d: %+v, %v", i, a, err)
		}
		c.add(10 * time.Second)
	}
	ok, wait := admits(t, s, first)
	if next := c.get().Truncate(24 * time.Hour).Add(24 * time.Hour); ok || c.get().Add(wait) != next {
		t.Errorf("%v, until %s", ok, c.get().Add(wait))
	}
	if ok, _ := admits(t, s, elsewhere); !ok {
		t.Error("the day of one workflow holds for another")
	}
	if removed, err := s.Remove(t.Context(), first); !removed || err != nil {
		t.Fatal(err)
	}
	if ok, _ := admits(t, s, add(t, s, "a")); ok {
		t.Error("a new token begins a new day")
	}
	if left, err := s.Remaining(t.Context()); err != nil || left("a") != 0 || left("b") != PerDay-1 {
		t.Errorf("%v", err)
	}
	c.add(wait)
	if ok, _ := admits(t, s, second); !ok {
		t.Error("the next day has begun")
	}
}

func TestAClockThatIsSetBackAdmitsNoMore(t *testing.T) {
	s, c := newStore(t)
	token := add(t, s, "a")
	for range PerWindow {
		admits(t, s, token)
	}
	c.add(-time.Hour)
	if ok, _ := admits(t, s, token); ok {
		t.Error("admitted")
	}
}

// Of 20 calls at the same time, in databases of their own as several processes have them, one takes the last place.
func TestParallelCallsTakeTheLastPlaceOnce(t *testing.T) {
	h, c := newHome(t), &clock{now: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)}
	s := open(t, h, c)
	token := add(t, s, "a")
	for range PerWindow - 1 {
		admits(t, s, token)
	}
	var calls sync.WaitGroup
	results := make(chan error, 20)
	for range 20 {
		one := open(t, h, c)
		calls.Go(func() {
			_, err := one.Admit(context.Background(), token, true)
			results <- err
		})
	}
	calls.Wait()
	close(results)
	passed := 0
	for err := range results {
		if err == nil {
			passed++
		} else if fault.From(err).Type != fault.RateLimited {
			t.Error(err)
		}
	}
	if passed != 1 {
		t.Errorf("%d passed", passed)
	}
}

func TestAnUndoneAdmissionDoesNotCount(t *testing.T) {
	s, _ := newStore(t)
	token := add(t, s, "a")
	var last Admission
	for range PerWindow {
		var err error
		if last, err = s.Admit(t.Context(), token, true); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Undo(t.Context(), last.ID); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := s.Job(t.Context(), last.Job); ok || err != nil {
		t.Errorf("the job is there: %v", err)
	}
	if err := s.Undo(t.Context(), last.ID); err == nil || fault.From(err).Type != fault.NotFound {
		t.Errorf("undone twice: %v", err)
	}
	if last, err := s.Admit(t.Context(), token, true); err != nil || s.SetRun(t.Context(), last, "r1") != nil {
		t.Errorf("there is no place: %v", err)
	} else if err := s.Undo(t.Context(), last.ID); err == nil || fault.From(err).Type != fault.Conflict {
		t.Errorf("an admission with a run was undone: %v", err)
	}
	if ok, _ := admits(t, s, token); ok {
		t.Error("there is a place too many")
	}
}

func TestUnknownTokens(t *testing.T) {
	s, _ := newStore(t)
	if _, err := s.Admit(t.Context(), "AAAAAAAAAAAA", false); err == nil || fault.From(err).Type != fault.NotFound {
		t.Error(err)
	}
	if removed, err := s.Remove(t.Context(), "AAAAAAAAAAAA"); removed || err != nil {
		t.Error(err)
	}
	tokens := map[string]bool{}
	for range 50 {
		tokens[add(t, s, "a")] = true
	}
	if shares, err := s.Shares(t.Context()); err != nil || len(shares) != 50 || len(tokens) != 50 {
		t.Errorf("%d shares, %d tokens, %v", len(shares), len(tokens), err)
	}
}

func TestNothingIsCreatedToRead(t *testing.T) {
	h := newHome(t)
	if s, err := Open(t.Context(), h, false); s != nil || err != nil {
		t.Errorf("%v, %v", s, err)
	}
	if _, err := os.Stat(h.Dir()); !errors.Is(err, os.ErrNotExist) {
		t.Error("the home was created")
	}
}

func TestTheDatabaseIsPrivate(t *testing.T) {
	s, c := newStore(t)
	add(t, s, "a")
	var file string
	if err := s.db.QueryRow("SELECT file FROM pragma_database_list").Scan(&file); err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(file + "*")
	if len(files) != 3 {
		t.Errorf("%q", files)
	}
	for _, f := range files {
		if info, err := os.Stat(f); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", f, info.Mode(), err)
		}
	}
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	h, err := home.Open(filepath.Dir(file), "")
	if err != nil {
		t.Fatal(err)
	}
	open(t, h, c)
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
}

// A file that is not usable stays as it is.
func TestUnusableDatabases(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, path string){
		"text":    func(t *testing.T, path string) { write(t, path, "this is not a database, and long enough to look at") },
		"cut off": func(t *testing.T, path string) { write(t, path, "SQLite format 3\x00") },
		"newer": func(t *testing.T, path string) {
			exec(t, path, "PRAGMA application_id=1885762408; PRAGMA user_version=99; CREATE TABLE t(a)")
		},
		"another": func(t *testing.T, path string) { exec(t, path, "CREATE TABLE shares(a)") },
		"other id": func(t *testing.T, path string) {
			exec(t, path, "PRAGMA application_id=7; PRAGMA user_version=1; CREATE TABLE t(a)")
		},
		"a folder":   func(t *testing.T, path string) { mkdir(t, path) },
		"leads away": func(t *testing.T, path string) { link(t, path) },
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			if _, err := h.Make(); err != nil {
				t.Fatal(err)
			}
			spoil(t, h.Path(File))
			before, _ := os.ReadFile(h.Path(File))
			for _, create := range []bool{false, true} {
				s, err := Open(t.Context(), h, create)
				if f := fault.From(err); f == nil || f.Type != fault.Unavailable && f.Type != fault.Security || s != nil || f.Type == fault.Validation && f.File != File {
					t.Errorf("%v: %+v", create, f)
				}
			}
			if after, _ := os.ReadFile(h.Path(File)); string(after) != string(before) {
				t.Error("the file was changed")
			}
		})
	}
}

func TestADamagedPageIsAFault(t *testing.T) {
	h := newHome(t)
	s, err := Open(t.Context(), h, true)
	if err != nil {
		t.Fatal(err)
	}
	token := add(t, s, "a")
	s.Close()
	b, err := os.ReadFile(h.Path(File))
	if err != nil {
		t.Fatal(err)
	}
	for i := 4096; i < len(b); i++ {
		b[i] = 0xa5
	}
	write(t, h.Path(File), string(b))
	s, err = Open(t.Context(), h, true)
	if err == nil {
		defer s.Close()
		_, err = s.Admit(t.Context(), token, false)
	}
	if f := fault.From(err); f == nil || f.Type != fault.Unavailable || f.File != File {
		t.Errorf("%+v", f)
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func exec(t *testing.T, path, statements string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.Exec(statements); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
}

func mkdir(t *testing.T, path string) {
	t.Helper()
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, path string) {
	t.Helper()
	if err := os.Symlink(filepath.Join(t.TempDir(), "elsewhere.db"), path); err != nil {
		t.Fatal(err)
	}
}
