package cache

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/pflow-suite/pflow/pkg/home"
)

func TestCache(t *testing.T) {
	h, err := home.Open(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	c := Open(h)
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	c.Now = func() time.Time { return now }
	if _, _, _, ok := c.Get("sha256:ab", time.Hour); ok {
		t.Error("something is there before anything was put")
	}
	if err := c.Put("sha256:ab", "r1", json.RawMessage(`{"a":12345678901234567890}`)); err != nil {
		t.Fatal(err)
	}
	if out, run, _, ok := c.Get("sha256:ab", time.Hour); !ok || run != "r1" || string(out) != `{"a":12345678901234567890}` {
		t.Errorf("%s %s %v", out, run, ok)
	}
	now = now.Add(2 * time.Hour)
	if _, _, _, ok := c.Get("sha256:ab", time.Hour); ok {
		t.Error("an entry that is too old is found")
	}
	if _, _, _, ok := c.Get("sha256:ab", 3*time.Hour); !ok {
		t.Error("an entry that is not too old is not found")
	}
	c.WriteOnly = true
	if _, _, _, ok := c.Get("sha256:ab", 3*time.Hour); ok {
		t.Error("a write-only cache finds an entry")
	}
	c.WriteOnly = false
	if err := os.WriteFile(h.Path("cache", "ab.json"), []byte("torn"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, _, ok := c.Get("sha256:ab", 3*time.Hour); ok {
		t.Error("what cannot be read is given")
	}
}
