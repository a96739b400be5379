package clientconfig

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/pelletier/go-toml/v2"
	"github.com/tidwall/gjson"
	"github.com/tidwall/jsonc"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// file is a configuration file of a client.
type file struct {
	client, path, project string
	read                  func(path string) ([]byte, error)
}

// parse returns the servers of a file, sorted by the projects and the names.
func (f file) parse(data []byte) ([]Entry, error) {
	key, decode := "mcpServers", f.decodeJSON
	switch f.client {
	case codex:
		key, decode = "mcp_servers", f.decodeTOML
	case vscode:
		key = "servers"
	}
	top, err := decode(data)
	if err != nil {
		return nil, err
	}
	var servers map[string]json.RawMessage
	if err := f.member(top, key, &servers); err != nil {
		return nil, err
	}
	var inputs []question
	if f.client == vscode {
		if err := f.member(top, "inputs", &inputs); err != nil {
			return nil, err
		}
	}
	entries := f.entries(servers, inputs)
	if f.client == gemini {
		excluded := gjson.GetBytes(top["mcp"], "excluded").Array()
		for i := range entries {
			if e := &entries[i]; e.Fault == nil && slices.ContainsFunc(excluded, func(name gjson.Result) bool { return name.Str == e.Name }) {
				e.Differs = append(e.Differs, "the client does not start it, because mcp.excluded names it")
			}
		}
	}
	if f.client != claudeCode || f.project != "" {
		return entries, nil
	}
	var projects map[string]struct {
		MCPServers map[string]json.RawMessage `json:"mcpServers"`
	}
	if err := f.member(top, "projects", &projects); err != nil {
		return nil, err
	}
	for _, folder := range slices.Sorted(maps.Keys(projects)) {
		if folder != "" {
			of := f
			of.project = folder
			entries = append(entries, of.entries(projects[folder].MCPServers, nil)...)
		}
	}
	return entries, nil
}

// member decodes a member of the whole file, if it is there.
func (f file) member(top map[string]json.RawMessage, key string, into any) error {
	if top[key] == nil {
		return nil
	}
	err := json.Unmarshal(top[key], into)
	if path, must, ok := rawjson.Mistyped(top[key], err); ok {
		return fault.New(fault.Validation, "%s: %s must be %s", f.path, rawjson.AppendPath(key, path), must)
	}
	return err
}

func (f file) entries(servers map[string]json.RawMessage, inputs []question) []Entry {
	entries := []Entry{}
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		t := translation{file: f, inputs: inputs, entry: Entry{Client: f.client, File: f.path, Project: f.project, Name: name}}
		entries = append(entries, t.translate(servers[name]))
	}
	return entries
}

// decodeJSON reads JSON with comments and trailing commas, which all the clients accept or do not write.
func (f file) decodeJSON(data []byte) (top map[string]json.RawMessage, err error) {
	data = jsonc.ToJSON(bytes.TrimPrefix(data, []byte("\uFEFF")))
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, nil
	}
	if err := json.Unmarshal(data, &top); err != nil {
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			broken := fault.New(fault.Validation, "%s is not JSON: %v", f.path, err)
			broken.Line = 1 + bytes.Count(data[:min(max(syntax.Offset-1, 0), int64(len(data)))], []byte("\n"))
			return nil, broken
		}
		return nil, fault.New(fault.Validation, "%s must be an object, not %s", f.path, rawjson.Kind(data))
	}
	return top, nil
}

// maxTOML is the most bytes of a file in TOML. Parsing takes half a second for a file of 1 MiB that is one long key.
const maxTOML = 1 << 20

// decodeTOML reads TOML. Only the table of servers is returned, as JSON.
func (f file) decodeTOML(data []byte) (map[string]json.RawMessage, error) {
	var top struct {
		Servers any `toml:"mcp_servers"`
	}
	if len(data) > maxTOML {
		return nil, fault.New(fault.TooLarge, "%s has more than %d MiB", f.path, maxTOML>>20)
	}
	if err := toml.Unmarshal(data, &top); err != nil {
		broken := fault.New(fault.Validation, "%s is not TOML", f.path)
		if at, ok := errors.AsType[*toml.DecodeError](err); ok { // its message may repeat a value
			broken.Line, _ = at.Position()
		}
		return nil, broken
	}
	if top.Servers == nil {
		return nil, nil
	}
	servers, err := rawjson.Marshal(top.Servers)
	if err != nil {
		return nil, fault.New(fault.Validation, "%s has a number in mcp_servers that is infinite", f.path)
	}
	return map[string]json.RawMessage{"mcp_servers": servers}, nil
}
