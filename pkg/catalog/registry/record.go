package registry

import (
	"bytes"
	"encoding/binary"
	"sort"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/catalog/search"
	"github.com/pflow-suite/pflow/pkg/catalog/stored"
	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// record is what can be said of an entry of registry.json without decoding it.
type record struct {
	name         string
	server, tool string // empty unless the entry is a tool of an MCP server
	offset, size int    // the place of the entry's JSON in registry.json
	ours         bool   // false for upstream pflow's own nodes, which its registry lists too
}

// aliases returns the entry's names in other spellings.
func (r record) aliases() []string {
	if r.server == "" {
		return nil
	}
	return []string{rawName(r.server, r.tool), nodetype.MCPName(r.server, r.tool)}
}

// entries are records in the order of their names, in the form in which they are stored. A record is decoded when it is asked for:
// most questions are about a few of 10,000.
type entries struct {
	// starts has the places of the records in data, 32 bits each.
	starts, data []byte
}

// newEntries returns records as entries.
func newEntries(records []record) entries {
	var e entries
	var w stored.Writer
	for _, r := range records {
		e.starts = binary.LittleEndian.AppendUint32(e.starts, uint32(w.Len()))
		if r.ours {
			w.Number(1)
		} else {
			w.Number(0)
		}
		w.Text(r.name)
		w.Text(r.server)
		w.Text(r.tool)
		w.Number(uint64(r.offset))
		w.Number(uint64(r.size))
	}
	e.data = w.Data()
	return e
}

// valid reports whether each record has a place. What a record says of places in registry.json may still be wrong.
func (e entries) valid() bool {
	if len(e.starts)%4 != 0 {
		return false
	}
	for i := range e.len() {
		if e.start(i) > len(e.data) {
			return false
		}
	}
	return true
}

func (e entries) len() int { return len(e.starts) / 4 }

func (e entries) start(i int) int { return int(binary.LittleEndian.Uint32(e.starts[4*i:])) }

// name returns the name of a record without copying it.
func (e entries) name(i int) []byte {
	r := stored.Part(e.data[e.start(i):])
	r.Number()
	return r.Bytes()
}

// owner returns the server and the tool of a record without copying them.
func (e entries) owner(i int) (server, tool []byte) {
	r := stored.Part(e.data[e.start(i):])
	r.Number()
	r.Bytes()
	return r.Bytes(), r.Bytes()
}

// of reports whether a record is a tool of the given server. Without a server, each is.
func (e entries) of(i int, server string) bool {
	if server == "" {
		return true
	}
	owner, _ := e.owner(i)
	return string(owner) == server
}

// at returns a record.
func (e entries) at(i int) record {
	r := stored.Part(e.data[e.start(i):])
	return record{ours: r.Number() == 1, name: r.Text(), server: r.Text(), tool: r.Text(), offset: int(r.Number()), size: int(r.Number())}
}

// usable is like the function usable, without decoding the record.
func (e entries) usable(i int) bool {
	r := stored.Part(e.data[e.start(i):])
	if r.Number() != 1 {
		return false
	}
	name := r.Bytes()
	return bytes.HasPrefix(name, []byte("mcp-")) || !nodetype.IsBuiltin(name) // no built-in type has that prefix, and most names do
}

// search returns the index of the first entry whose name is not less than a name.
func (e entries) search(name string) int {
	return sort.Search(e.len(), func(i int) bool { return string(e.name(i)) >= name })
}

// find returns the entry that a name stands for: the one of that name, else the tool that it means in the spelling of its server,
// else the only tool registered in that spelling, as upstream pflow does, that the name means in the spelling of node types. A
// tool whose name ends in a digest is not found by its plain name, which may be that of another tool.
func (e entries) find(name string) (record, bool) {
	i := e.search(name)
	if i < e.len() && string(e.name(i)) == name {
		if r := e.at(i); r.ours {
			return r, true
		}
	}
	if !strings.HasPrefix(name, "mcp-") {
		return record{}, false
	}
	spelled := []byte(name[len("mcp-"):])
	var respelled []int
	for i := range e.len() {
		server, tool := e.owner(i)
		rest, ok := bytes.CutPrefix(spelled, server)
		switch {
		case !ok || len(server) == 0 || len(rest) == 0 || rest[0] != '-':
		case verbatim(name, string(server), string(tool)):
			return e.at(i), true
		case name == nodetype.MCPName(string(server), string(tool)) && verbatim(string(e.name(i)), string(server), string(tool)):
			respelled = append(respelled, i)
		}
	}
	if len(respelled) == 1 {
		return e.at(respelled[0]), true
	}
	return record{}, false
}

// sketch reads an entry once, whatever is in it, and returns its record and the document by which a search finds it. An
// entry that cannot be used has an empty document.
func (f *file) sketch(name string) (record, search.Document) {
	r := record{name: name, offset: f.offsets[name], size: len(f.nodes[name])}
	doc := search.Document{Name: name}
	module := ""
	gjson.Parse(string(f.nodes[name])).ForEach(func(key, value gjson.Result) bool {
		switch key.Str {
		case "module":
			module = value.String()
		case "interface":
			r.readInterface(value, &doc)
		}
		return true
	})
	r.ours = r.server != "" || !upstreamsOwn(name, module)
	if !usable(r) {
		return r, search.Document{}
	}
	return r, doc
}

// readInterface reads an entry's "interface".
func (r *record) readInterface(v gjson.Result, doc *search.Document) {
	v.ForEach(func(key, value gjson.Result) bool {
		switch key.Str {
		case "description":
			doc.Description = value.String()
		case "params":
			value.ForEach(func(_, p gjson.Result) bool {
				name := p.Get("name").String()
				if name == "" {
					name = p.Get("key").String()
				}
				doc.Params = append(doc.Params, name)
				return true
			})
		case "mcp_metadata":
			r.server, r.tool = value.Get("server").String(), value.Get("tool").String()
			if r.server == "" || r.tool == "" {
				r.server, r.tool = "", ""
			} else {
				doc.Name, doc.Group = r.tool, "mcp-"+r.server
			}
		}
		return true
	})
}
