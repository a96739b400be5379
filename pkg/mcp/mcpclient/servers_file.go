package mcpclient

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// LoadServers reads the configuration. It is empty if the file does not exist. It may contain invalid entries: Check
// returns what is wrong with one.
func LoadServers(h *home.Home) (Servers, error) {
	doc, err := readDocument(h)
	if err != nil {
		return nil, err
	}
	return doc.servers, nil
}

// ChangeServers reads the configuration, calls change with it and replaces the file atomically, under a lock that every
// program of the suite respects. If change returns an error, nothing is written. Unknown keys are preserved.
func ChangeServers(ctx context.Context, h *home.Home, change func(Servers) error) error {
	return h.Lock(ctx, File, func() error {
		doc, err := readDocument(h)
		if err != nil {
			return err
		}
		if err := change(doc.servers); err != nil {
			return err
		}
		data, err := doc.encode()
		if err != nil {
			return err
		}
		return h.Write(data, 0o600, File)
	})
}

// knownKeys returns the keys of an entry that Server has fields for; "transport" is an alias of "type".
func knownKeys() []string {
	return []string{"command", "args", "env", "inherit_env", "cwd", "type", "transport", "url", "headers", "timeout", "max_memory", "disabled"}
}

// UnmarshalJSON reads an entry and keeps its unknown keys.
func (s *Server) UnmarshalJSON(data []byte) error {
	type plain Server // without this method
	var entry struct {
		plain
		Transport string `json:"transport"`
	}
	if err := json.Unmarshal(data, &entry); err != nil {
		return err
	}
	*s = Server(entry.plain)
	if s.Type == "" {
		s.Type = entry.Transport
	}
	if err := json.Unmarshal(data, &s.rest); err != nil {
		return err
	}
	for _, key := range knownKeys() {
		if key != "disabled" || s.Disabled { // "disabled": false is the author's, and has no effect
			delete(s.rest, key)
		}
	}
	return nil
}

// MarshalJSON writes an entry with its unknown keys, sorted.
func (s Server) MarshalJSON() ([]byte, error) {
	type plain Server
	own, err := rawjson.Marshal(plain(s))
	if err != nil {
		return nil, err
	}
	all := maps.Clone(s.rest)
	if err := json.Unmarshal(own, &all); err != nil {
		return nil, err
	}
	return rawjson.Marshal(all)
}

// document is the whole file. rest holds its other top-level keys.
type document struct {
	servers Servers
	rest    map[string]json.RawMessage
}

func readDocument(h *home.Home) (*document, error) {
	data, err := h.Read(File)
	if err != nil {
		return nil, err
	}
	doc := &document{servers: Servers{}, rest: map[string]json.RawMessage{}}
	if len(bytes.TrimSpace(data)) == 0 {
		return doc, nil
	}
	if err := json.Unmarshal(data, &doc.rest); err != nil {
		return nil, unreadable(data, err)
	}
	if doc.rest == nil {
		return nil, notObject(data)
	}
	for _, key := range []string{"servers", "mcpServers"} { // mcpServers overrides servers
		entries, err := decodeEntries(doc.rest[key], key)
		if err != nil {
			f := fault.From(err)
			f.File = File
			f.Message = File + ": " + f.Message
			return nil, f
		}
		maps.Copy(doc.servers, entries)
		delete(doc.rest, key)
	}
	return doc, nil
}

// unreadable returns the fault of a file that is not a JSON object.
func unreadable(data []byte, err error) error {
	if _, _, ok := rawjson.Mistyped(data, err); ok { // the decoder takes any values
		return notObject(data)
	}
	f := fault.New(fault.Validation, "%s cannot be read as JSON: %v", File, err)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		f.Line = 1 + bytes.Count(data[:min(max(syntax.Offset-1, 0), int64(len(data)))], []byte("\n"))
	}
	f.File = File
	return f.Suggest("%s", fileForm)
}

// fileForm is the suggestion for a file that cannot be used.
const fileForm = "Correct the file in the home folder by hand; it has the form {\"mcpServers\":{NAME:{\"command\":…}}}"

// notObject returns the fault of a file with another value than an object.
func notObject(data []byte) error {
	f := fault.New(fault.Validation, "%s must be an object with mcpServers, not %s", File, rawjson.Kind(data))
	f.File = File
	return f.Suggest("%s", fileForm)
}

// decodeEntries reads the object of entries under a key.
func decodeEntries(data json.RawMessage, key string) (Servers, error) {
	if data == nil {
		return nil, nil
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		f := fault.New(fault.Validation, "%q must be an object of servers by name, not %s", key, rawjson.Kind(data))
		f.Path = key
		return nil, f
	}
	servers := Servers{}
	for _, name := range slices.Sorted(maps.Keys(raw)) {
		var s Server
		if string(raw[name]) == "null" {
			f := fault.New(fault.Validation, "Server %s cannot be read: it is null, not an object", name)
			f.Path = key + "." + name
			return nil, f
		}
		if err := json.Unmarshal(raw[name], &s); err != nil {
			f := fault.New(fault.Validation, "Server %s cannot be read: %v", name, err)
			f.Path = key + "." + name
			if path, must, ok := rawjson.Mistyped(raw[name], err); ok {
				what := "its " + path
				if path == "" {
					what = "it"
				}
				f.Message = fmt.Sprintf("Server %s cannot be read: %s must be %s", name, what, must)
				f.Path = rawjson.AppendPath(f.Path, path)
			}
			return nil, f.Suggest(`An entry has "command" (text), "args" (a list of texts) and "env" (an object of texts), or "url" and "headers"`)
		}
		servers[name] = s
	}
	return servers, nil
}

func (d *document) encode() ([]byte, error) {
	entries, err := rawjson.Marshal(d.servers)
	if err != nil {
		return nil, err
	}
	all := maps.Clone(d.rest)
	all["mcpServers"] = entries
	return indented(all)
}

// indented returns v as indented JSON with a newline at its end.
func indented(v any) ([]byte, error) {
	raw, err := rawjson.Marshal(v)
	if err != nil {
		return nil, fault.New(fault.Internal, "cannot write JSON: %v", err)
	}
	var buf bytes.Buffer
	if err := json.Indent(&buf, raw, "", "  "); err != nil {
		return nil, fault.New(fault.Internal, "cannot write JSON: %v", err)
	}
	return append(buf.Bytes(), '\n'), nil
}
