package journal

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"hash"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
)

// Defect is a file of the home that is not what was stored.
type Defect struct {
	Run string `json:"run_id,omitempty"`
	// File is its path in the home.
	File    string `json:"file"`
	Problem string `json:"problem"`
}

// Verify reads the run's journal and all of its long values, and compares these with their names. It changes nothing. It returns the number
// of values.
func (r *Reader) Verify() (values int, defects []Defect) {
	defect := func(file string, err error) {
		defects = append(defects, Defect{r.ID, filepath.Join("runs", r.ID, file), fault.From(err).Message})
	}
	refs := map[string]bool{}
	if err := r.eachReference(func(ref event.Reference) { refs[ref.Blob] = true }); err != nil {
		defect(journalFile, err)
	}
	entries, _ := os.ReadDir(filepath.Join(r.dir, blobsDir)) // there may be none
	for _, e := range entries {
		if home.IsSHA256(e.Name()) { // else it was not finished
			refs["sha256:"+e.Name()] = true
			values++
		}
	}
	for _, ref := range slices.Sorted(maps.Keys(refs)) {
		if err := verifyBlob(r.dir, ref); err != nil {
			defect(filepath.Join(blobsDir, strings.TrimPrefix(ref, "sha256:")), err)
		}
	}
	return values, defects
}

// eachReference calls each for the references in the run's events.
func (r *Reader) eachReference(each func(event.Reference)) error {
	f, err := r.Open()
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	for events, last := event.NewReader(f), int64(0); ; {
		e, line, err := events.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if e.Seq != last+1 {
			return fault.New(fault.Protocol, "Event %d follows event %d", e.Seq, last)
		}
		last = e.Seq
		event.MapReferences(line, func(ref event.Reference) json.RawMessage {
			if ref.Blob != "" {
				each(ref)
			}
			return nil
		})
	}
}

// verifyBlob compares a long value of a run's directory with the SHA-256 that names it.
func verifyBlob(dir, ref string) error {
	f, err := openLong(blobPath(dir, ref), 0)
	if errors.Is(err, fs.ErrNotExist) {
		return missing(ref)
	}
	if err != nil {
		return storageFault("read a long value", err)
	}
	defer func() { _ = f.Close() }()
	_, err = io.Copy(io.Discard, verified(f, ref))
	return err
}

// verified returns a reader that fails at the end of a long value that is not what was stored under ref.
func verified(r io.Reader, ref string) io.Reader { return &verifier{r, sha256.New(), ref} }

type verifier struct {
	io.Reader
	hash hash.Hash
	ref  string
}

// Read reads on, and compares at the end.
func (v *verifier) Read(p []byte) (int, error) {
	n, err := v.Reader.Read(p)
	_, _ = v.hash.Write(p[:n])
	if errors.Is(err, io.EOF) && refOf(v.hash) != v.ref {
		err = rotten(v.ref)
	}
	return n, err
}

// rotten is the fault of a long value that is not what was stored.
func rotten(ref string) error {
	return fault.New(fault.Internal, "The long value %s… has changed on the disk since it was stored", ref[:15]).
		Suggest("Run the node that made it again; a resume does").Then(fault.Command("Find what else is damaged", "pflow-exec verify"))
}
