package library

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/pflow-suite/pflow/pkg/catalog/search"
	"github.com/pflow-suite/pflow/pkg/catalog/stored"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// indexName is the index in the home. It is derived from the files of the workflows and may be deleted at any time.
//
// It has what lists show of each workflow, with the stamps of the files on which that depends, so that a list reads only the files
// that have changed. A workflow is in it only if every later change of its files will show in their stamps. So it may be replaced
// by an older one at any time, and writers of workflows do nothing for it.
const indexName = "library.index"

// indexLayout is the version of the stored form.
const indexLayout = 3

// leastIndexed is the number of bytes of workflows from which on there is an index. Fewer are read as fast. A file counts fileCost
// bytes more than it has, for finding and opening it.
const (
	leastIndexed = 64 << 10
	fileCost     = 1 << 10
)

// index is what is stored.
type index struct {
	entries map[key]*kept
	// words is the stored search index of the texts with the given digest.
	digest string
	words  []byte
}

// head returns the beginning of the index. What is shown of a file depends on the program that reads it, so the programs of two
// versions do not share an index. It returns "" if the program cannot be identified.
func head() string {
	self, err := os.Executable()
	if err != nil {
		return ""
	}
	f, err := os.Open(self)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	stamp, err := home.StampOf(f)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("pflow library index %d %v", indexLayout<<8|search.Version, stamp)
}

// storedIndex returns the index of a home. It returns nil if the home has no index, or a damaged one, or that of another version.
func storedIndex(h *home.Home) *index {
	if h.CheckInside(indexName) != nil {
		return nil
	}
	data, err := h.Read(indexName)
	if err != nil || data == nil {
		return nil
	}
	return parseIndex(stored.Open(data, head()))
}

// store stores what a survey has kept, if it is worth it, with the search index of the texts that have the given digest. A home that
// cannot be written does without.
func (s *survey) store(digest string, words []byte) {
	of := head()
	if s.size < s.lib.leastIndexed || len(s.kept) > mostStored || of == "" || s.lib.home.CheckInside(indexName) != nil {
		return
	}
	x := &index{s.kept, digest, words}
	_ = s.lib.home.Write(x.encode(of), 0o600, indexName)
}

// storeAgain stores what a survey has kept with the search index of before. Without drafts it keeps the drafts of before, too.
func (s *survey) storeAgain(drafts bool) {
	for k, e := range s.old.entries {
		if !drafts && !k.saved {
			s.keep(k, e)
		}
	}
	s.store(s.old.digest, s.old.words)
}

// words returns the search index of the workflows in a list, in their order. It is the stored one if it has the same texts.
func (s *survey) words(list []Listed) *search.Index {
	digest := digestOf(list)
	if s.old.digest == digest {
		if words, err := search.Parse(s.old.words); err == nil && words.Documents() == len(list) {
			if s.added > 0 {
				s.storeAgain(true)
			}
			return words
		}
	}
	var b search.Builder
	for _, w := range list {
		b.Add(search.Document{Name: w.Name, Description: w.Description})
	}
	words := b.Index()
	if !s.unsettled { // else it would be stored again in a moment
		s.store(digest, words.Bytes())
	}
	return words
}

// encode returns the index as it is stored behind the given head.
func (x *index) encode(head string) []byte {
	w := stored.New(head)
	w.Text(x.digest)
	w.Bytes(x.words)
	keys := slices.SortedFunc(maps.Keys(x.entries), func(a, b key) int {
		return cmp.Or(cmp.Compare(folder(a.saved), folder(b.saved)), cmp.Compare(a.name, b.name))
	})
	w.Number(uint64(len(keys)))
	for _, k := range keys {
		e := x.entries[k]
		w.Text(folder(k.saved))
		w.Text(k.name)
		w.Text(e.path)
		w.Text(e.Description)
		w.Text(e.Version)
		w.Text(timeText(e.CreatedAt))
		w.Text(timeText(e.UpdatedAt))
		w.Bytes(e.Tool)
		w.Bytes(faultText(e.err))
		w.Number(uint64(len(e.on)))
		for _, f := range e.on {
			w.Text(f.path)
			for _, n := range f.numbers() {
				w.Number(n)
			}
		}
	}
	return w.Seal()
}

func (f seen) numbers() []uint64 {
	s := f.stamp
	return []uint64{uint64(s.Size), uint64(s.Modified), uint64(s.Changed), s.Device, s.Inode, uint64(s.Mode)}
}

// mostStored is the largest number of workflows in an index. A damaged one may claim more.
const mostStored = 1 << 16

// longestStored is the most bytes of the description of a workflow as a tool in an index. A file with a longer one is read again.
const longestStored = 64 << 10

// parseIndex reads what encode wrote behind the head. It returns nil if that is something else.
func parseIndex(r *stored.Reader) *index {
	if r == nil {
		return nil
	}
	x := &index{digest: r.Text(), words: r.Bytes()}
	n := min(r.Number(), mostStored)
	x.entries = make(map[key]*kept, n)
	entries := make([]kept, n) // one allocation for all
	version := ""
	for r.More() {
		saved, name := string(r.Bytes()) == savedFolder, r.Bytes()
		if len(entries) == 0 {
			return nil
		}
		e := &entries[0]
		entries = entries[1:]
		e.path, e.Summary, e.on = r.Text(), Summary{Description: r.Text(), Version: like(r.Bytes(), version)}, e.first[:0]
		k := key{saved, like(name, e.path)}
		version = e.Version
		var ok [3]bool
		e.CreatedAt, ok[0] = parseTime(r.Bytes())
		e.UpdatedAt, ok[1] = parseTime(r.Bytes())
		e.Tool = r.Bytes()
		e.err, ok[2] = parseFault(r.Bytes())
		for n := r.Number(); n > 0 && r.OK(); n-- {
			f := seen{path: like(r.Bytes(), e.path)}
			f.stamp = home.Stamp{
				Size: int64(r.Number()), Modified: int64(r.Number()), Changed: int64(r.Number()),
				Device: r.Number(), Inode: r.Number(), Mode: uint32(r.Number()),
			}
			e.on = append(e.on, f)
		}
		if ok != [3]bool{true, true, true} || len(e.on) == 0 {
			return nil
		}
		x.entries[k] = e
	}
	if !r.OK() {
		return nil
	}
	return x
}

// like returns a text. It takes no memory for one with which the other text begins.
func like(text []byte, other string) string {
	if len(text) <= len(other) && other[:len(text)] == string(text) {
		return other[:len(text)]
	}
	return string(text)
}

// storable reports whether the index can store what is shown of a workflow, to the last byte.
func (e *kept) storable() bool {
	f, ok := parseFault(faultText(e.err))
	if len(e.Tool) > longestStored || !ok || !bytes.Equal(faultText(f), faultText(e.err)) {
		return false
	}
	for _, t := range []time.Time{e.CreatedAt, e.UpdatedAt} {
		if back, ok := parseTime([]byte(timeText(t))); !ok || timeText(back) != timeText(t) {
			return false
		}
	}
	return true
}

// timeText returns a time as it is stored, and "" for the zero time.
func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.RFC3339Nano)
}

func parseTime(text []byte) (t time.Time, ok bool) {
	if len(text) == 0 {
		return time.Time{}, true
	}
	return t, t.UnmarshalText(text) == nil
}

// faultText returns a fault as it is stored, and nil for none.
func faultText(f *fault.Fault) []byte {
	if f == nil {
		return nil
	}
	text, err := rawjson.Marshal(f)
	if err != nil {
		return []byte("{") // which is not storable
	}
	return text
}

func parseFault(text []byte) (f *fault.Fault, ok bool) {
	if len(text) == 0 {
		return nil, true
	}
	f = &fault.Fault{}
	return f, json.Unmarshal(text, f) == nil
}

// digestOf returns the digest of the texts by which workflows are found.
func digestOf(list []Listed) string {
	h := sha256.New()
	var text []byte
	for _, w := range list {
		text = binary.AppendUvarint(text[:0], uint64(len(w.Name)))
		text = append(text, w.Name...)
		text = binary.AppendUvarint(text, uint64(len(w.Description)))
		_, _ = h.Write(append(text, w.Description...))
	}
	return string(h.Sum(nil))
}
