package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"

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
	needed := map[string]int{}
	if err := r.eachReference(func(ref event.Reference) { needed[ref.Blob] = ref.Bytes }); err != nil {
		defect(journalFile, err)
	}
	entries, _ := os.ReadDir(filepath.Join(r.dir, blobsDir)) // there may be none
	for _, e := range entries {
		if !home.IsSHA256(e.Name()) {
			continue // it was not finished
		}
		ref := "sha256:" + e.Name()
		if err := verifyBlob(blobPath(r.dir, ref), ref); err != nil {
			defect(filepath.Join(blobsDir, e.Name()), err)
		}
		delete(needed, ref)
		values++
	}
	for ref := range needed {
		_, err := readBlob(r.dir, ref)
		if err != nil {
			defect(filepath.Join(blobsDir, filepath.Base(blobPath(r.dir, ref))), err)
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

// verifyBlob compares the content of a file with the SHA-256 that names it.
func verifyBlob(path, ref string) error {
	f, err := openLong(path, 0)
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
	hash interface {
		io.Writer
		Sum(b []byte) []byte
	}
	ref string
}

// Read reads on, and compares at the end.
func (v *verifier) Read(p []byte) (int, error) {
	n, err := v.Reader.Read(p)
	_, _ = v.hash.Write(p[:n])
	if errors.Is(err, io.EOF) && "sha256:"+hex.EncodeToString(v.hash.Sum(nil)) != v.ref {
		err = rotten(v.ref)
	}
	return n, err
}

// rotten is the fault of a long value that is not what was stored.
func rotten(ref string) error {
	return fault.New(fault.Internal, "The long value %s… has changed on the disk since it was stored", ref[:15]).
		Suggest("Run the node that made it again; a resume does").Then(fault.Command("Find what else is damaged", "pflow-exec verify"))
}
