// Package cache keeps the outputs of nodes from run to run. Each entry is a file in the home's folder cache/, named by its
// key.
package cache

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

const (
	folder    = "cache"
	extension = ".json"
)

// maxEntry is the most bytes of a file of the cache. A node puts out less.
const maxEntry = 512 << 20

// Cache is the cache of a home. Several processes may use it at the same time.
type Cache struct {
	home *home.Home
	// Now returns the current time.
	Now func() time.Time
	// WriteOnly makes Get find nothing. Put still works.
	WriteOnly bool
}

// Open returns the cache of a home. It neither reads nor creates anything.
func Open(h *home.Home) *Cache { return &Cache{home: h, Now: time.Now} }

// entry is a file of the cache.
type entry struct {
	Run     string          `json:"run"`
	Time    time.Time       `json:"time"`
	Outputs json.RawMessage `json:"outputs"`
}

// Get returns the outputs that were put under a key, and the run that put them. ok is false if the cache has no such key, if
// they are older than age, or if they cannot be read.
func (c *Cache) Get(key string, age time.Duration) (outputs json.RawMessage, run string, at time.Time, ok bool) {
	if c.WriteOnly {
		return nil, "", time.Time{}, false
	}
	b, err := c.home.ReadFile(maxEntry, folder, file(key))
	if err != nil || b == nil {
		return nil, "", time.Time{}, false
	}
	var e entry
	if json.Unmarshal(b, &e) != nil || e.Outputs == nil || c.Now().Sub(e.Time) > age {
		return nil, "", time.Time{}, false
	}
	return e.Outputs, e.Run, e.Time, true
}

// Put stores the outputs of a run, which are valid JSON, under a key.
func (c *Cache) Put(key, run string, outputs json.RawMessage) error {
	b, err := rawjson.Marshal(entry{run, c.Now().UTC(), outputs})
	if err != nil {
		return err
	}
	if _, err := c.home.Make(folder); err != nil {
		return err
	}
	return c.home.Write(append(b, '\n'), 0o600, folder, file(key))
}

// Collect removes entries that are older than age. It skips those that it cannot remove, and files that are not entries, by their
// names. If the folder lies outside the home, through a link, it removes nothing.
func (c *Cache) Collect(age time.Duration) {
	if c.home.CheckInside(folder) != nil {
		return
	}
	for _, e := range c.entries() {
		if info, err := e.Info(); err == nil && c.Now().Sub(info.ModTime()) >= age {
			_ = os.Remove(c.home.Path(folder, e.Name()))
		}
	}
}

// Verify returns the number of entries, and the names of those that cannot be used. It changes nothing.
func (c *Cache) Verify() (entries int, unusable []string) {
	files := c.entries()
	for _, f := range files {
		var e entry
		if b, err := c.home.ReadFile(maxEntry, folder, f.Name()); err != nil || json.Unmarshal(b, &e) != nil || e.Outputs == nil {
			unusable = append(unusable, f.Name())
		}
	}
	return len(files), unusable
}

// entries returns the files that are entries, by their names. There may be no folder.
func (c *Cache) entries() []os.DirEntry {
	files, _ := os.ReadDir(c.home.Path(folder))
	return slices.DeleteFunc(files, func(f os.DirEntry) bool {
		digest, ok := strings.CutSuffix(f.Name(), extension)
		return !ok || !home.IsSHA256(digest)
	})
}

// file returns the name of a key's file.
func file(key string) string { return strings.TrimPrefix(key, "sha256:") + extension }
