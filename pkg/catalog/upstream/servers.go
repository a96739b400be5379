package upstream

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// serversFile is the configuration of MCP servers, which both programs call the same.
const serversFile = "mcp-servers.json"

// servers takes the MCP servers over, and returns their names.
func (i *Importer) servers(ctx context.Context, from *home.Home, shared bool) (names []string, items []Item, err error) {
	source, err := from.Read(serversFile)
	if err != nil || source == nil {
		return nil, nil, err
	}
	if !gjson.ValidBytes(source) {
		return nil, []Item{{Kind: "server", Name: serversFile, Status: Refused, Error: fault.New(fault.Validation, "%s is not JSON", from.Path(serversFile))}}, nil
	}
	entries := gjson.GetBytes(source, "mcpServers")
	if !entries.Exists() {
		entries = gjson.GetBytes(source, "servers")
	}
	step := func() error {
		text, err := i.Home.Read(serversFile)
		if err != nil {
			return err
		}
		if len(bytes.TrimSpace(text)) == 0 {
			text = []byte("{}")
		}
		if !gjson.ValidBytes(text) {
			return fault.New(fault.Validation, "%s in the home folder is not JSON", serversFile).Suggest("Correct it, or move it away")
		}
		before := text
		entries.ForEach(func(name, entry gjson.Result) bool {
			item := Item{Kind: "server", Name: name.Str}
			if shared {
				item.Status = Unchanged
			}
			own, differs, f := translated(entry)
			if item.Differs = differs; f != nil {
				item.Status, item.Error = Refused, f
			} else if !shared {
				text = i.server(text, &item, own)
			}
			if item.Status != Refused {
				names = append(names, name.Str)
			}
			items = append(items, item)
			return true
		})
		if i.Dry || bytes.Equal(before, text) {
			return nil
		}
		var indented bytes.Buffer
		if err := json.Indent(&indented, text, "", "  "); err != nil {
			return fault.From(err)
		}
		return i.Home.Write(append(bytes.TrimSpace(indented.Bytes()), '\n'), 0o600, serversFile)
	}
	if i.Dry {
		err = step()
	} else {
		err = i.Home.Lock(ctx, serversFile, step)
	}
	return names, items, err
}

// server puts an entry into the text of the configuration, and sets the status of its item.
func (i *Importer) server(text []byte, item *Item, entry json.RawMessage) []byte {
	at := "mcpServers." + gjson.Escape(item.Name)
	there := gjson.GetBytes(text, at)
	switch {
	case there.Exists() && bytes.Equal(rawjson.Compact(json.RawMessage(there.Raw)), rawjson.Compact(entry)):
		item.Status = Unchanged
		return text
	case there.Exists() && !i.Force:
		item.Status = Kept
		item.Error = fault.New(fault.AlreadyExists, "%s has another server %s", serversFile, item.Name).Suggest("To replace it, add --force")
		return text
	}
	changed, err := sjson.SetRawBytes(text, at, entry)
	if err != nil {
		item.Status, item.Error = Refused, fault.From(err)
		return text
	}
	item.Status = Taken
	return changed
}

// translated returns an entry as this suite reads it, and what differs. auth becomes a header.
func translated(entry gjson.Result) (own json.RawMessage, differs []string, f *fault.Fault) {
	if !entry.IsObject() {
		return nil, nil, fault.New(fault.Validation, "The entry is not an object")
	}
	kind := strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(entry.Get("type").String() + entry.Get("transport").String()))
	if !slices.Contains([]string{"", "stdio", "http", "streamablehttp"}, kind) {
		return nil, nil, fault.New(fault.Validation, "The transport %s is not supported", kind).Suggest("Use stdio or streamable HTTP; most servers that offer SSE also offer streamable HTTP, often at /mcp")
	}
	if entry.Get("command").String() == "" && entry.Get("url").String() == "" {
		return nil, nil, fault.New(fault.Validation, "The entry has neither a command nor a url")
	}
	own = json.RawMessage(entry.Raw)
	if auth := entry.Get("auth"); auth.IsObject() {
		name, value, ok := header(auth)
		if !ok {
			return nil, nil, fault.New(fault.Validation, "The auth of type %q cannot be taken over", auth.Get("type").String()).
				Then(fault.Command("Add the server with the header that it needs", "pflow-sync add FILE"))
		}
		text, err := sjson.SetBytes([]byte(entry.Raw), "headers."+gjson.Escape(name), value)
		if err == nil {
			text, err = sjson.DeleteBytes(text, "auth")
		}
		if err != nil {
			return nil, nil, fault.From(err)
		}
		own = text
		differs = append(differs, "auth became the header "+name)
	}
	if entry.Get("sse_timeout").Exists() {
		differs = append(differs, "sse_timeout has no effect here: timeout limits a call")
	}
	if strings.Contains(entry.Raw, "${") {
		differs = append(differs, "A variable ${NAME} that is not set is empty here, with a warning")
	}
	return own, differs, nil
}

// header returns the header that an auth stands for.
func header(auth gjson.Result) (name, value string, ok bool) {
	switch auth.Get("type").String() {
	case "bearer":
		return "Authorization", "Bearer " + auth.Get("token").String(), true
	case "api_key":
		if name = auth.Get("header").String(); name == "" {
			name = "X-API-Key"
		}
		return name, auth.Get("key").String(), true
	case "basic":
		pair := auth.Get("username").String() + ":" + auth.Get("password").String()
		return "Authorization", "Basic " + base64.StdEncoding.EncodeToString([]byte(pair)), !strings.Contains(pair, "${")
	}
	return "", "", false
}
