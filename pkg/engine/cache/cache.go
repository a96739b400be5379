// Package cache keeps the outputs of nodes from run to run, in the home's folder cache/: a file each, named by its key.
package cache

import (
	"encoding/json"
	"os"
	"strings"
	"time"

	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

const folder = "cache"

// Cache is the cache of a home. Several programs may use it at the same time.
type Cache struct {
	home *home.Home
	// Now is the time; a test may set it.
	Now func() time.Time
	// WriteOnly gives nothing and keeps what is put.
	WriteOnly bool
}

// Open gives the cache of a home. Nothing is read or created before it is asked for.
func Open(h *home.Home) *Cache { return &Cache{home: h, Now: time.Now} }

// entry is a file of the cache.
type entry struct {
	Run     string          `json:"run"`
	Time    time.Time       `json:"time"`
	Outputs json.RawMessage `json:"outputs"`
}

// Get gives what was kept under a key not longer ago than the age, and the run that it came from. What cannot be read is
// not there.
func (c *Cache) Get(key string, age time.Duration) (outputs json.RawMessage, run string, ok bool) {
	if c.WriteOnly {
		return nil, "", false
	}
	b, err := c.home.Read(folder, file(key))
	if err != nil || b == nil {
		return nil, "", false
	}
	var e entry
	if json.Unmarshal(b, &e) != nil || e.Outputs == nil || c.Now().Sub(e.Time) > age {
		return nil, "", false
	}
	return e.Outputs, e.Run, true
}

// Put keeps outputs, which are valid JSON, under a key.
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

// Collect removes what was put longer ago than an age. What cannot be removed stays until the next time.
func (c *Cache) Collect(age time.Duration) {
	entries, err := os.ReadDir(c.home.Path(folder))
	if err != nil {
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && c.Now().Sub(info.ModTime()) >= age {
			_ = os.Remove(c.home.Path(folder, e.Name()))
		}
	}
}

// file is the name of a key's file.
func file(key string) string { return strings.TrimPrefix(key, "sha256:") + ".json" }
