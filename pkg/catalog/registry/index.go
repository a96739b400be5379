package registry

import (
	"crypto/sha256"
	"encoding/binary"
	"hash/crc32"
	"maps"
	"slices"
	"sync"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/catalog/search"
)

// indexName is the index in the home. It is derived from registry.json and may be deleted at any time.
const indexName = "registry.index"

// index is what is known of one state of registry.json: where its entries stand, and the words to find them by.
//
// It is stored as a head, the entries and the words. The head says which state of the file it is of, by the file's stamp
// and the digest of its content. Each part has a checksum, so that what is torn, damaged or of another version is never
// taken for an index.
type index struct {
	*entries
	// words is read when it is asked for.
	words func() *search.Index
}

// head is how a stored index begins.
type head struct {
	stamp  stamp
	digest [sha256.Size]byte
	// settled says that the file was old enough when it was read: any later change shows in its stamp.
	settled bool
	// sizes and sums are those of the entries and of the words.
	sizes, sums [2]uint32
}

// magic and layout open the file. The layout is another one whenever what is stored for the same file is.
const (
	magic    = "pflowidx"
	layout   = 1<<8 | search.Version
	headSize = len(magic) + 4 + stampSize + sha256.Size + 4 + 16 + 4
)

func sum(data []byte) uint32 { return crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)) }

func (h *head) encode() []byte {
	out := binary.LittleEndian.AppendUint32([]byte(magic), layout)
	out = h.stamp.appendTo(out)
	out = append(out, h.digest[:]...)
	settled := uint32(0)
	if h.settled {
		settled = 1
	}
	for _, n := range []uint32{settled, h.sizes[0], h.sizes[1], h.sums[0], h.sums[1]} {
		out = binary.LittleEndian.AppendUint32(out, n)
	}
	return binary.LittleEndian.AppendUint32(out, sum(out))
}

// parseHead reads a head, if there is one.
func parseHead(data []byte) (*head, bool) {
	if len(data) < headSize || string(data[:len(magic)]) != magic || binary.LittleEndian.Uint32(data[len(magic):]) != layout ||
		binary.LittleEndian.Uint32(data[headSize-4:]) != sum(data[:headSize-4]) {
		return nil, false
	}
	h := &head{stamp: parseStamp(data[len(magic)+4:])}
	rest := data[len(magic)+4+stampSize:]
	copy(h.digest[:], rest)
	rest = rest[sha256.Size:]
	number := func(i int) uint32 { return binary.LittleEndian.Uint32(rest[4*i:]) }
	h.settled, h.sizes, h.sums = number(0) == 1, [2]uint32{number(1), number(2)}, [2]uint32{number(3), number(4)}
	return h, true
}

// stored is an index as it lies in its file.
type stored struct {
	head
	entries, words []byte
}

func (s *stored) encode() []byte {
	s.sizes = [2]uint32{uint32(len(s.entries)), uint32(len(s.words))}
	s.sums = [2]uint32{sum(s.entries), sum(s.words)}
	return slices.Concat(s.head.encode(), s.entries, s.words)
}

// open reads the entries; the words wait until they are asked for. It says whether the index can be used.
func (s *stored) open() (*index, bool) {
	list, ok := parseEntries(s.entries, s.stamp.size)
	if !ok || sum(s.entries) != s.sums[0] {
		return nil, false
	}
	return &index{entries: list, words: sync.OnceValue(func() *search.Index {
		if words, err := search.Parse(s.words); err == nil && sum(s.words) == s.sums[1] && words.Documents() == list.count {
			return words
		}
		return nil
	})}, true
}

// parseStored reads a stored index whole.
func parseStored(data []byte) (*stored, bool) {
	h, ok := parseHead(data)
	if !ok || uint64(len(data)-headSize) != uint64(h.sizes[0])+uint64(h.sizes[1]) {
		return nil, false
	}
	parts := data[headSize:]
	return &stored{head: *h, entries: parts[:h.sizes[0]], words: parts[h.sizes[0]:]}, true
}

// build makes the index of what a registry holds.
func build(f *file) *stored {
	s := &stored{}
	list, docs := sketches(f)
	s.entries, s.words = encodeEntries(list), ranked(docs).Bytes()
	return s
}

// rebuild makes the index of what a registry holds from what is known of an earlier state of it, before.
func rebuild(f *file, before map[string]entry, known *index) *stored {
	if known == nil {
		return build(f)
	}
	old := known.words()
	if old == nil {
		return build(f)
	}
	renumber := make([]int, known.count)
	names := slices.Sorted(maps.Keys(f.nodes))
	list, fresh := make([]record, len(names)), map[int]search.Document{}
	i := 0
	for n, name := range names {
		for ; i < known.count && known.name(i) < name; i++ {
			renumber[i] = -1
		}
		if i < known.count && known.name(i) == name && before[name] == f.nodes[name] {
			list[n] = known.at(i)
			list[n].offset = f.offsets[name]
			renumber[i] = n
			i++
			continue
		}
		list[n], fresh[n] = f.sketch(name)
	}
	for ; i < known.count; i++ {
		renumber[i] = -1
	}
	return &stored{entries: encodeEntries(list), words: search.Update(old, renumber, len(names), fresh).Bytes()}
}

// light is the index of a small registry, whose words are counted only when they are asked for.
func light(f *file) *index {
	list, docs := sketches(f)
	opened, _ := parseEntries(encodeEntries(list), int64(len(f.source)))
	return &index{entries: opened, words: sync.OnceValue(func() *search.Index { return ranked(docs).Index() })}
}

// sketches reads all entries: where they stand, and what they are found by.
func sketches(f *file) ([]record, []search.Document) {
	list, docs := make([]record, 0, len(f.nodes)), make([]search.Document, 0, len(f.nodes))
	for _, name := range slices.Sorted(maps.Keys(f.nodes)) {
		r, doc := f.sketch(name)
		list, docs = append(list, r), append(docs, doc)
	}
	return list, docs
}

// sketch is an entry's record, and what it is found by.
func (f *file) sketch(name string) (record, search.Document) {
	s := f.nodes[name].sketch()
	r := record{name: name, server: s.server, tool: s.tool, offset: f.offsets[name], size: len(f.nodes[name]), ours: s.ours}
	if !usable(r) {
		return r, search.Document{}
	}
	return r, search.Document{Name: name, Description: s.description, Params: s.params}
}

func ranked(docs []search.Document) *search.Builder {
	var b search.Builder
	for _, d := range docs {
		b.Add(d)
	}
	return &b
}

// sketch is what an index tells of an entry.
type sketch struct {
	server, tool string
	description  string
	params       []string
	ours         bool
}

// sketch reads an entry once, whatever is in it.
func (e entry) sketch() (s sketch) {
	module := ""
	gjson.Parse(string(e)).ForEach(func(key, value gjson.Result) bool {
		switch key.Str {
		case "module":
			module = value.String()
		case "interface":
			s.face(value)
		}
		return true
	})
	s.ours = s.server != "" || !upstreamsOwn(module)
	return s
}

func (s *sketch) face(v gjson.Result) {
	v.ForEach(func(key, value gjson.Result) bool {
		switch key.Str {
		case "description":
			s.description = value.String()
		case "params":
			value.ForEach(func(_, p gjson.Result) bool {
				name := p.Get("name").String()
				if name == "" {
					name = p.Get("key").String()
				}
				s.params = append(s.params, name)
				return true
			})
		case "mcp_metadata":
			s.server, s.tool = value.Get("server").String(), value.Get("tool").String()
			if s.server == "" || s.tool == "" {
				s.server, s.tool = "", ""
			}
		}
		return true
	})
}
