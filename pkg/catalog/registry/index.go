package registry

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"
	"sync"

	"github.com/pflow-suite/pflow/pkg/catalog/search"
)

// indexName is the index in the home. It is derived from registry.json and may be deleted at any time.
const indexName = "registry.index"

// layout is the version of the stored form. It changes whenever other bytes would be stored for the same registry.json.
const layout = 2<<8 | search.Version

// index holds what a question about registry.json needs besides the entries themselves.
type index struct {
	entries []record // sorted by name
	// words returns the search index of the entries. Its documents have the numbers of the entries.
	words func() *search.Index
}

// newIndex returns the index of a registry. Its words are counted when they are first asked for.
func newIndex(f *file) *index {
	x := &index{entries: make([]record, 0, len(f.nodes))}
	docs := make([]search.Document, 0, len(f.nodes))
	for _, name := range slices.Sorted(maps.Keys(f.nodes)) {
		r, doc := f.sketch(name)
		x.entries, docs = append(x.entries, r), append(docs, doc)
	}
	x.words = sync.OnceValue(func() *search.Index {
		var b search.Builder
		for _, doc := range docs {
			b.Add(doc)
		}
		return b.Index()
	})
	return x
}

// encode returns the index as it is stored for the state of registry.json that has the given stamp: a head, the words, the
// entries, and a checksum of it all.
func (x *index) encode(of stamp) []byte {
	var b []byte
	number := func(n int) { b = binary.AppendUvarint(b, uint64(n)) }
	text := func(s string) {
		number(len(s))
		b = append(b, s...)
	}
	text(head(of))
	text(string(x.words().Bytes()))
	for _, r := range x.entries {
		text(r.name)
		text(r.server)
		text(r.tool)
		number(r.offset)
		number(r.size)
		if r.ours {
			number(1)
		} else {
			number(0)
		}
	}
	return binary.LittleEndian.AppendUint32(b, checksum(b))
}

// head returns the beginning of an index of this layout.
func head(of stamp) string { return fmt.Sprintf("pflow registry index %d %v", layout, of) }

func checksum(data []byte) uint32 { return crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)) }

// decodeIndex returns the index that encode stored for the given stamp. It returns nil if data is damaged, of another
// layout, or the index of another state of registry.json.
func decodeIndex(data []byte, of stamp) *index {
	end := len(data) - crc32.Size
	if end < 0 || binary.LittleEndian.Uint32(data[end:]) != checksum(data[:end]) {
		return nil
	}
	return parseIndex(data[:end], of)
}

// parseIndex reads what stands before the checksum.
func parseIndex(data []byte, of stamp) *index {
	ok := true
	number := func() int {
		v, n := binary.Uvarint(data)
		if n <= 0 || v > uint64(max(of.Size, int64(len(data)))) { // neither a place in registry.json nor a length
			ok, data = false, nil
			return 0
		}
		data = data[n:]
		return int(v)
	}
	text := func() (part []byte) {
		n := number()
		if n > len(data) {
			ok, data = false, nil
			return nil
		}
		part, data = data[:n], data[n:]
		return part
	}
	if string(text()) != head(of) {
		return nil
	}
	words, err := search.Parse(text())
	if err != nil {
		return nil
	}
	x := &index{entries: make([]record, 0, words.Documents()), words: func() *search.Index { return words }}
	for len(data) > 0 {
		r := record{name: string(text()), server: string(text()), tool: string(text()), offset: number(), size: number(), ours: number() == 1}
		if !ok || int64(r.offset)+int64(r.size) > of.Size {
			return nil
		}
		x.entries = append(x.entries, r)
	}
	if !ok || len(x.entries) != words.Documents() {
		return nil
	}
	return x
}
