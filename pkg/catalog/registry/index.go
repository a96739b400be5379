package registry

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/pflow-suite/pflow/pkg/catalog/search"
	"github.com/pflow-suite/pflow/pkg/catalog/stored"
	"github.com/pflow-suite/pflow/pkg/home"
)

// indexName is the index in the home. It is derived from registry.json and may be deleted at any time.
const indexName = "registry.index"

// layout is the version of the stored form. It changes whenever other bytes would be stored for the same registry.json.
const layout = 6<<8 | search.Version

// index holds what a question about registry.json needs besides the entries themselves.
type index struct {
	entries
	// words returns the search index of the entries. Its documents have the numbers of the entries.
	words func() *search.Index
	// vocabulary returns the words of the names of the usable entries, sorted.
	vocabulary func() []string
}

// newIndex returns the index of a registry. Its words are counted when they are first asked for.
func newIndex(f *file) *index {
	x := &index{}
	records := make([]record, 0, len(f.nodes))
	docs := make([]search.Document, 0, len(f.nodes))
	for _, name := range slices.Sorted(maps.Keys(f.nodes)) {
		r, doc := f.sketch(name)
		records, docs = append(records, r), append(docs, doc)
	}
	x.entries = newEntries(records)
	x.words = sync.OnceValue(func() *search.Index {
		var b search.Builder
		for _, doc := range docs {
			b.Add(doc)
		}
		return b.Index()
	})
	x.vocabulary = sync.OnceValue(func() []string {
		var v vocabulary
		for _, r := range records {
			if usable(r) {
				v.add(r.name)
			}
		}
		return v.sorted()
	})
	return x
}

// encode returns the index as it is stored for the state of registry.json that has the given stamp: the words, those of
// names, and the entries.
func (x *index) encode(of home.Stamp) []byte {
	w := stored.New(head(of))
	w.Bytes(x.words().Bytes())
	w.Text(strings.Join(x.vocabulary(), " "))
	w.Bytes(x.starts)
	w.Bytes(x.data)
	return w.Seal()
}

// head returns the beginning of an index of this layout.
func head(of home.Stamp) string { return fmt.Sprintf("pflow registry index %d %v", layout, of) }

// decodeIndex returns the index that encode stored for the given stamp. It returns nil if data is damaged, of another
// layout, or the index of another state of registry.json.
func decodeIndex(data []byte, of home.Stamp) *index {
	return parseIndex(stored.Open(data, head(of)))
}

// parseIndex reads what stands behind the head.
func parseIndex(from *stored.Reader) *index {
	if from == nil {
		return nil
	}
	words, err := search.Parse(from.Bytes())
	if err != nil {
		return nil
	}
	names := from.Bytes()
	x := &index{
		entries: entries{starts: from.Bytes(), data: from.Bytes()}, words: func() *search.Index { return words },
		vocabulary: func() []string { return strings.Fields(string(names)) },
	}
	if !from.OK() || from.More() || !x.valid() || x.len() != words.Documents() {
		return nil
	}
	return x
}
