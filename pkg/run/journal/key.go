package journal

import (
	"context"
	"os"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
)

// Key is an idempotency key, by which whoever wants the same thing done at the same time finds the run that does it.
type Key struct {
	path string
	home *home.Home
	lock *flock.Flock
}

// keysFolder has a file for each key, named by the key's hash, with the run that was last started for it.
const keysFolder = ".keys"

// KeyOf is a key that is not held.
func KeyOf(h *home.Home, key string) *Key {
	return &Key{path: h.Path("runs", keysFolder, strings.TrimPrefix(event.Digest([]byte(key)), "sha256:")), home: h}
}

// Hold waits for the key: nobody else starts a run for it until Release.
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
			return recordFault("hold the idempotency key", err)
		}
		if k.current() {
			return nil
		}
		k.Release() // it was collected between being opened and being locked
	}
}

// current says whether the file that is locked is the one that others find.
func (k *Key) current() bool {
	ours, err := k.lock.Stat()
	theirs, other := os.Stat(k.path)
	return err == nil && other == nil && os.SameFile(ours, theirs)
}

// Live is the run that was started for the key, as long as a process executes it; else nil.
func (k *Key) Live() *Reader {
	b, err := os.ReadFile(k.path)
	if id := strings.TrimSpace(string(b)); err == nil && isID(id) {
		if r, err := Find(k.home, id); err == nil && r.Held() {
			return r
		}
	}
	return nil
}

// Set notes the run that was started for the key.
func (k *Key) Set(id string) error {
	if err := os.WriteFile(k.path, []byte(id+"\n"), 0o600); err != nil {
		return recordFault("note the run of the idempotency key", err)
	}
	return nil
}

// Release lets others have the key.
func (k *Key) Release() { _ = k.lock.Close() }

// collectKeys removes keys whose run is over.
func collectKeys(h *home.Home) {
	entries, err := os.ReadDir(h.Path("runs", keysFolder))
	if err != nil {
		return
	}
	for _, e := range entries {
		k := &Key{path: h.Path("runs", keysFolder, e.Name()), home: h}
		k.lock = flock.New(k.path)
		if ok, err := k.lock.TryLock(); ok && err == nil {
			if k.current() && k.Live() == nil {
				_ = os.Remove(k.path)
			}
			k.Release()
		}
	}
}

// CheckKey refuses what is no idempotency key.
func CheckKey(key string) error {
	if len(key) > 256 || strings.TrimSpace(key) == "" {
		return fault.New(fault.Usage, "An idempotency key is a text of 1 to 256 bytes, and not only blanks")
	}
	return nil
}
