package store

import (
	"os"
	"testing"
	"time"
)

// TestALeaseKeepsTheDatabaseOpen holds that the database stays open between uses, is closed some time after the last, and is opened anew when
// another one was put in its place.
func TestALeaseKeepsTheDatabaseOpen(t *testing.T) {
	h := newHome(t)
	l := NewLease(h)
	defer l.Close()
	if s, release, err := l.Open(t.Context()); s != nil || err != nil {
		t.Fatalf("there is no database: %v, %v", s, err)
	} else {
		release()
	}
	made, err := Open(t.Context(), h, true)
	if err != nil {
		t.Fatal(err)
	}
	token := add(t, made, "greet")
	made.Close()
	use := func() (*Store, func()) {
		s, release, err := l.Open(t.Context())
		if err != nil || s == nil {
			t.Fatal(s, err)
		}
		return s, release
	}
	first, release := use()
	second, releaseSecond := use()
	if _, err := second.Admit(t.Context(), token, true); first != second || err != nil {
		t.Errorf("two uses have the same database: %v, %v", first == second, err)
	}
	release()
	releaseSecond()
	third, release := use()
	if third != first {
		t.Error("the database was closed between two uses")
	}
	if err := os.Rename(h.Path(File), h.Path("old")); err != nil {
		t.Fatal(err)
	}
	other, err := Open(t.Context(), h, true)
	if err != nil {
		t.Fatal(err)
	}
	other.Close()
	fourth, releaseFourth := use()
	if shares, err := fourth.Shares(t.Context()); fourth == third || len(shares) != 0 || err != nil {
		t.Errorf("another database has %v, %v", shares, err)
	}
	if _, err := third.Shares(t.Context()); err != nil {
		t.Errorf("a database in use was closed: %v", err)
	}
	release()
	releaseFourth()
	if _, err := os.Stat(h.Path(File + "-wal")); err != nil {
		t.Errorf("the database is not open after its use: %v", err)
	}
	for deadline := time.Now().Add(5 * time.Minute); ; <-time.After(10 * time.Millisecond) {
		if _, err := os.Stat(h.Path(File + "-wal")); os.IsNotExist(err) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the database stays open without a use")
		}
	}
}
