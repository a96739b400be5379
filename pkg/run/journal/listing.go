package journal

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/process"
)

// Listing is what the folder of the runs holds.
type Listing struct {
	// Runs are the runs, oldest first.
	Runs []*Reader
	// Creating are the ids of runs that are being created, or were a moment ago.
	Creating []string
}

// Dir returns the folder of the runs. It may not exist.
func Dir(h *home.Home) string { return h.Path("runs") }

// ListAll returns what the folder of the runs holds. With a run it always has all older ones: a folder that changes while it is
// read may hide a run that is just being renamed, so it is read twice. The error is that of os.ReadDir.
func ListAll(h *home.Home) (*Listing, error) {
	first, err := listOnce(h)
	if err != nil || len(first.Runs) == 0 {
		return first, err
	}
	l, err := listOnce(h)
	if err != nil {
		return nil, err
	}
	newest := first.Runs[len(first.Runs)-1].ID // a run that is older was there, in some form, at the first reading
	l.Runs = slices.DeleteFunc(l.Runs, func(r *Reader) bool { return r.ID > newest })
	for _, id := range first.Creating {
		if _, begun := slices.BinarySearchFunc(l.Runs, id, (*Reader).compare); !begun {
			l.Creating = append(l.Creating, id)
		}
	}
	return l, nil
}

func listOnce(h *home.Home) (*Listing, error) {
	entries, err := os.ReadDir(Dir(h))
	if err != nil {
		return nil, err
	}
	l := &Listing{}
	for _, e := range entries {
		switch id, creating, ok := ParseName(e.Name()); {
		case !ok || !e.IsDir():
		case creating:
			l.Creating = append(l.Creating, id)
		default:
			l.Runs = append(l.Runs, At(h, id))
		}
	}
	return l, nil
}

func (r *Reader) compare(id string) int { return strings.Compare(r.ID, id) }

// ParseName returns the id of the run to which a name in the folder of the runs belongs. creating is true if the run is being
// created; a run that has an event is renamed to its id. ok is false for all other names.
func ParseName(name string) (id string, creating, ok bool) {
	id, creating = strings.CutPrefix(name, newPrefix)
	return id, creating, IsID(id)
}

// At returns the run with an id. It may not exist.
func At(h *home.Home, id string) *Reader { return &Reader{ID: id, dir: h.Path("runs", id)} }

// Path returns the path of the journal.
func (r *Reader) Path() string { return filepath.Join(r.dir, journalFile) }

// creationTime is how long it may take to create a run. What takes longer was left behind by a killed process, or belongs to a
// stopped one.
const creationTime = 10 * time.Second

// IsCreating reports whether a process is creating the run with the id. It does not try the run's lock, because then the
// process could fail to take it.
func IsCreating(h *home.Home, id string) bool {
	dir := h.Path("runs", newPrefix+id)
	info, err := os.Stat(dir)
	if err != nil || time.Since(info.ModTime()) > creationTime {
		return false
	}
	pid, err := holder(filepath.Join(dir, lockFile))
	if err != nil {
		return true // it has not written the file yet
	}
	return process.Signal(pid, 0)
}
