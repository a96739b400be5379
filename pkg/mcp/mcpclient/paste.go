package mcpclient

import (
	"encoding/json"
	"fmt"
	"maps"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// ParseServers parses a document of servers as their instructions show it: {"mcpServers":{…}} as for Claude Code and
// Cursor, {"servers":{…}} as for VS Code, or {NAME:{"command":…}}. Names are cleaned to the suite's form; notes has a
// text for the user about each change. If one entry is invalid, the whole document is refused.
func ParseServers(data []byte) (servers Servers, notes []string, err error) {
	var top map[string]json.RawMessage
	if err := json.Unmarshal(data, &top); err != nil {
		f := fault.New(fault.Validation, "The servers cannot be read as JSON: %v", err)
		if _, must, ok := rawjson.Mistyped(data, err); ok {
			f.Message = "The document of servers must be " + must
		}
		return nil, nil, f.Suggest("%s", pasteForm)
	}
	found := Servers{}
	wrapped := false
	for _, key := range []string{"servers", "mcpServers"} {
		entries, err := decodeEntries(top[key], key)
		if err != nil {
			return nil, nil, err
		}
		wrapped = wrapped || entries != nil
		maps.Copy(found, entries)
	}
	if !wrapped {
		if _, ok := top["command"]; ok {
			return nil, nil, fault.New(fault.Validation, "The document is an entry without the name of a server").Suggest("%s", pasteForm)
		}
		if found, err = decodeEntries(data, "servers"); err != nil {
			return nil, nil, err
		}
	}
	if len(found) == 0 {
		return nil, nil, fault.New(fault.Validation, "The document names no servers").Suggest("%s", pasteForm)
	}
	return normalize(found)
}

const pasteForm = `Give {"mcpServers":{NAME:{"command":…,"args":[…]}}} or {NAME:{"command":…}}`

// normalize gives every server a well-formed name and a canonical type.
func normalize(found Servers) (Servers, []string, error) {
	servers := Servers{}
	var notes []string
	for _, name := range found.Names() {
		s := found[name]
		if err := s.Check(name); err != nil {
			return nil, nil, err
		}
		s.Type = s.Transport()
		good, changed, err := CleanName(name)
		if err != nil {
			return nil, nil, err
		}
		notes = append(notes, changed...)
		if _, taken := servers[good]; taken {
			return nil, nil, fault.New(fault.Validation, "Two servers of the document would both be called %s", good).Suggest("Rename one of them")
		}
		servers[good] = s
	}
	return servers, notes, nil
}

// CleanName returns the name of a server in the suite's form, with a note for the user if that changes it.
func CleanName(name string) (clean string, notes []string, err error) {
	if err := home.CheckPathless("server", name); err != nil {
		return "", nil, err
	}
	clean = home.CleanName(name)
	if err := home.CheckName("server", clean); err != nil {
		return "", nil, err
	}
	if clean != name {
		notes = []string{fmt.Sprintf("server %q is called %s here", name, clean)}
	}
	return clean, notes, nil
}
