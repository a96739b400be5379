package journal

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
)

// Key is an idempotency key. It leads programs that ask for the same thing at the same time to one run.
type Key struct {
	path string
	home *home.Home
	lock *flock.Flock
}

// keysFolder has a file for each key, named by the key's SHA-256, that holds the id of the last run started for the key.
const keysFolder = ".keys"

// NewKey returns a key of a home. It is not held.
func NewKey(h *home.Home, key string) *Key {
	return &Key{path: h.Path("runs", keysFolder, strings.TrimPrefix(event.Digest([]byte(key)), "sha256:")), home: h}
}

// Hold waits until no other process holds the key, and holds it until Release.
func (k *Key) Hold(ctx context.Context) error {
	if _, err := k.home.Make("runs", keysFolder); err != nil {
		return err
	}
	for {
		k.lock = flock.New(k.path, flock.SetPermissions(0o600))
		if ok, err := k.lock.TryLockContext(ctx, 5*time.Millisecond); !ok {
			if cause := context.Cause(ctx); cause != nil {
				return cause
			}
			return storageFault("lock the idempotency key", err)
		}
		if k.current() {
			return nil
		}
		k.Release() // the file was removed after it was opened
	}
}

// Free reports whether no process holds the key. It leaves nothing behind for a key that was never held.
func (k *Key) Free() bool {
	shared := flock.New(k.path, flock.SetFlag(os.O_RDONLY))
	defer func() { _ = shared.Close() }()
	ok, err := shared.TryRLock()
	return ok || errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// current reports whether the locked file is still the one at the key's path.
func (k *Key) current() bool {
	ours, err := k.lock.Stat()
	theirs, other := os.Stat(k.path)
	return err == nil && other == nil && os.SameFile(ours, theirs)
}

// Live returns the run that was last started for the key if a process executes it, else nil.
func (k *Key) Live() *Reader {
	if r := k.Last(); r != nil && r.Held() {
		return r
	}
	return nil
}

// Last returns the run that was last started for the key, or nil if it does not exist.
func (k *Key) Last() *Reader {
	b, err := readShort(k.path)
	if id := strings.TrimSpace(string(b)); err == nil && IsID(id) {
		if r, err := Find(k.home, id); err == nil {
			return r
		}
	}
	return nil
}

// Set records the run that is started for the key.
func (k *Key) Set(id string) error {
	if err := os.WriteFile(k.path, []byte(id+"\n"), 0o600); err != nil {
		return storageFault("record the run of the idempotency key", err)
	}
	return nil
}

// aged reports whether the key was set longer than keyAge ago.
func (k *Key) aged(now time.Time) bool {
	info, err := os.Stat(k.path)
	return err == nil && now.Sub(info.ModTime()) > keyAge
}

// Release ends Hold.
func (k *Key) Release() { _ = k.lock.Close() }

// keyAge is how long a key is kept after its run has ended. Until then a program whose start of the run was cut off finds it.
const keyAge = time.Hour

// collectKeys removes keys without a live run that are older than keyAge.
func collectKeys(h *home.Home, now time.Time) {
	entries, err := os.ReadDir(h.Path("runs", keysFolder))
	if err != nil || h.CheckInside("runs", keysFolder) != nil {
		return
	}
	for _, e := range entries {
		if !home.IsSHA256(e.Name()) {
			continue
		}
		k := &Key{path: h.Path("runs", keysFolder, e.Name()), home: h}
		k.lock = flock.New(k.path)
		if ok, err := k.lock.TryLock(); ok && err == nil {
			if k.current() && k.aged(now) && k.Live() == nil {
				_ = os.Remove(k.path)
			}
			k.Release()
		}
	}
}

// CheckKey returns a fault if key is not a valid idempotency key.
func CheckKey(key string) error {
	if len(key) > 256 || strings.TrimSpace(key) == "" {
		return fault.New(fault.Usage, "An idempotency key must have 1 to 256 bytes and must not be blank, got %d bytes", len(key))
	}
	return nil
}
