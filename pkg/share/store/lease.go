package store

import (
	"context"
	"os"
	"sync"
	"time"

	"github.com/pflow-suite/pflow/pkg/home"
)

// keepOpen is how long a Lease keeps the database open after its last use.
const keepOpen = time.Second

// Lease opens the database of a home for many short uses, some of them at the same time. SQLite makes the files beside the database for the
// first connection and removes them with the last one, which takes longer than to admit a run, so the database stays open between uses that
// follow each other closely. A database that was put in the place of another one is opened anew.
type Lease struct {
	home *home.Home
	mu   sync.Mutex
	last *leased // nil if the database is not open
}

// leased is an open database and the file that it was opened from.
type leased struct {
	store *Store
	file  os.FileInfo
	users int
	idle  *time.Timer
}

// NewLease returns a lease of the database of a home. Close must be called.
func NewLease(h *home.Home) *Lease { return &Lease{home: h} }

// Open returns the database, or nil if there is none. It can be used until release is called.
func (l *Lease) Open(ctx context.Context) (s *Store, release func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	file, err := prepare(l.home, false)
	if l.last != nil && (file == nil || !os.SameFile(file, l.last.file)) {
		l.drop()
	}
	if err != nil || file == nil {
		return nil, func() {}, err
	}
	if l.last == nil {
		if s, err = Open(ctx, l.home, false); s == nil || err != nil {
			return nil, func() {}, err
		}
		one := &leased{store: s, file: file}
		one.idle = time.AfterFunc(keepOpen, func() { l.closeIdle(one) })
		l.last = one
	}
	one := l.last
	one.users++
	one.idle.Stop()
	return one.store, func() { l.release(one) }, nil
}

// release ends a use.
func (l *Lease) release(one *leased) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if one.users--; one.users > 0 {
		return
	}
	if one != l.last {
		one.store.Close()
		return
	}
	one.idle.Reset(keepOpen)
}

// closeIdle closes a database that is not in use.
func (l *Lease) closeIdle(one *leased) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if one == l.last && one.users == 0 {
		l.drop()
	}
}

// drop lets go of the database, which is closed when it is no longer in use. The mu must be held.
func (l *Lease) drop() {
	l.last.idle.Stop()
	if l.last.users == 0 {
		l.last.store.Close()
	}
	l.last = nil
}

// Close closes the database when its last use has ended.
func (l *Lease) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last != nil {
		l.drop()
	}
}
