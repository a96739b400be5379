package registry

import (
	"sort"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/catalog/search"
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

// find returns the entry that a name stands for: the one of that name, else the tool that it means in another spelling.
func (x *index) find(name string) (record, bool) {
	i := sort.Search(len(x.entries), func(i int) bool { return x.entries[i].name >= name })
	if i < len(x.entries) && x.entries[i].name == name && x.entries[i].ours {
		return x.entries[i], true
	}
	if !strings.HasPrefix(name, "mcp-") {
		return record{}, false
	}
	for _, r := range x.entries {
		rest, ok := strings.CutPrefix(name[len("mcp-"):], r.server)
		if ok && r.server != "" && strings.HasPrefix(rest, "-") && (rest[1:] == r.tool || name == nodetype.MCPName(r.server, r.tool)) {
			return r, true
		}
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
			}
		}
		return true
	})
}
