package registry

import (
	"encoding/binary"
	"sort"
	"strings"

	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// entries is what is known of each entry of registry.json without reading it, sorted by name. It lies in its bytes as
// they are stored, record by record, with the texts behind the records.
type entries struct {
	count   int
	records []byte
	texts   string
}

// record is one entry.
type record struct {
	name         string
	server, tool string // of an entry that is a tool of an MCP server
	offset, size int    // where the entry stands in registry.json
	ours         bool   // it is a node type of this suite
}

// A record as it is stored: eight numbers of 32 bits, the offset in two of them.
const recordSize = 32

// appendTo adds the record to those stored.
func (r record) appendTo(records []byte, texts *strings.Builder) []byte {
	at, ours := texts.Len(), uint32(0)
	if r.ours {
		ours = 1
	}
	texts.WriteString(r.name)
	texts.WriteString(r.server)
	texts.WriteString(r.tool)
	for _, n := range []int{at, len(r.name), len(r.server), len(r.tool), r.size} {
		records = binary.LittleEndian.AppendUint32(records, uint32(n))
	}
	records = binary.LittleEndian.AppendUint64(records, uint64(r.offset))
	return binary.LittleEndian.AppendUint32(records, ours)
}

// encodeEntries is how records, sorted by name, are stored.
func encodeEntries(list []record) []byte {
	out := binary.LittleEndian.AppendUint32(nil, uint32(len(list)))
	var texts strings.Builder
	for _, r := range list {
		out = r.appendTo(out, &texts)
	}
	return append(out, texts.String()...)
}

// parseEntries reads what encodeEntries has written, for a registry of so many bytes.
func parseEntries(data []byte, source int64) (*entries, bool) {
	if len(data) < 4 {
		return nil, false
	}
	count := int(binary.LittleEndian.Uint32(data))
	if len(data)-4 < count*recordSize {
		return nil, false
	}
	e := &entries{count: count, records: data[4 : 4+count*recordSize], texts: string(data[4+count*recordSize:])}
	for i := range count {
		n := e.numbers(i)
		offset := binary.LittleEndian.Uint64(e.records[i*recordSize+20:])
		if uint64(n[0])+uint64(n[1])+uint64(n[2])+uint64(n[3]) > uint64(len(e.texts)) || offset > uint64(source) || uint64(n[4]) > uint64(source)-offset {
			return nil, false
		}
		if i > 0 && e.name(i-1) >= e.name(i) {
			return nil, false
		}
	}
	return e, true
}

// numbers are the place of a record's texts, their three lengths, and the entry's size.
func (e *entries) numbers(i int) (n [5]int) {
	for k := range n {
		n[k] = int(binary.LittleEndian.Uint32(e.records[i*recordSize+4*k:]))
	}
	return n
}

func (e *entries) name(i int) string {
	at := int(binary.LittleEndian.Uint32(e.records[i*recordSize:]))
	return e.texts[at : at+int(binary.LittleEndian.Uint32(e.records[i*recordSize+4:]))]
}

func (e *entries) at(i int) record {
	n := e.numbers(i)
	server := n[0] + n[1]
	tool := server + n[2]
	return record{
		name: e.texts[n[0]:server], server: e.texts[server:tool], tool: e.texts[tool : tool+n[3]], size: n[4],
		offset: int(binary.LittleEndian.Uint64(e.records[i*recordSize+20:])),
		ours:   binary.LittleEndian.Uint32(e.records[i*recordSize+28:]) == 1,
	}
}

// find gives the entry that a name stands for: of that name, else the tool that it means in another spelling.
func (e *entries) find(name string) (int, bool) {
	if i := sort.Search(e.count, func(i int) bool { return e.name(i) >= name }); i < e.count && e.name(i) == name && e.at(i).ours {
		return i, true
	}
	if !strings.HasPrefix(name, "mcp-") {
		return 0, false
	}
	for i := range e.count {
		r := e.at(i)
		rest, ok := strings.CutPrefix(name[len("mcp-"):], r.server)
		if ok && r.server != "" && strings.HasPrefix(rest, "-") && (rest[1:] == r.tool || name == nodetype.MCPName(r.server, r.tool)) {
			return i, true
		}
	}
	return 0, false
}

// aliases are the entry's names in other spellings.
func (r record) aliases() []string {
	if r.server == "" {
		return nil
	}
	return []string{rawName(r.server, r.tool), nodetype.MCPName(r.server, r.tool)}
}
