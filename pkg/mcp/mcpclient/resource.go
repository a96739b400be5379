package mcpclient

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// ReadResource is the tool that reads a server's resources: MCP's method of that name. A server that offers resources has it in
// addition to its own tools.
const ReadResource = "resources/read"

// offersResources reports whether the server offers resources.
func (s *Session) offersResources() bool {
	result := s.client.InitializeResult()
	return result != nil && result.Capabilities != nil && result.Capabilities.Resources != nil
}

// withReader adds ReadResource to the tools of a server that offers resources. It takes the place of a tool of that name.
func (s *Session) withReader(tools []Tool) []Tool {
	if !s.offersResources() {
		return tools
	}
	own := func(t Tool) bool { return t.Name == ReadResource }
	return append(slices.DeleteFunc(tools, own), Tool{
		Name: ReadResource, Description: "Read a resource of MCP server " + s.name + " by its URI.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"uri":{"type":"string","description":"The URI of the resource"}},"required":["uri"],"additionalProperties":false}`),
		Annotations: json.RawMessage(`{"readOnlyHint":true}`),
	})
}

// read reads the resource that the arguments of ReadResource name.
func (s *Session) read(ctx context.Context, limit time.Duration, args json.RawMessage) (*Answer, error) {
	uri := gjson.GetBytes(args, "uri")
	if uri.Type != gjson.String || uri.Str == "" {
		return nil, fault.New(fault.Validation, "The resource to read needs its \"uri\", a text")
	}
	late := fault.New(fault.Timeout, "MCP resource was not read within %s", seconds(limit)).Detail("server", s.name).Detail("uri", uri.Str).
		Suggest("Set a longer \"timeout\", in seconds, in the server's entry of %s", File)
	result, err := s.bounded(ctx, limit, late, func(ctx context.Context) (json.RawMessage, error) {
		result, err := s.exchange(ctx, &pendingRequest{}, func(ctx context.Context) (mcp.Result, error) {
			return s.client.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri.Str})
		})
		if err != nil {
			err = s.requestFault(ctx, err)
		}
		return result, err
	})
	if err != nil {
		return nil, s.readFault(uri.Str, err)
	}
	if kind := gjson.GetBytes(result, "resultType").Str; kind != "" && kind != "complete" {
		return nil, fault.New(fault.Protocol, "Reading a resource returned a result of type %q, which is not supported", kind).Detail("server", s.name)
	}
	if f := s.misshapen("resources/read", gjson.ParseBytes(result), "contents"); f != nil {
		return nil, f
	}
	return parseContents(result), nil
}

// codeNotFound is the error code of servers for a resource that does not exist, up to the revision 2025-11-25 of MCP. Later ones
// use that of invalid params.
const codeNotFound = -32002

// readFault names the resource in a server's error.
func (s *Session) readFault(uri string, err error) error {
	f, ok := errors.AsType[*fault.Fault](err)
	if !ok || f.Type != fault.Protocol {
		return err
	}
	code, _ := f.Details["code"].(int64)
	if code == codeNotFound || code == jsonrpc.CodeInvalidParams && strings.Contains(strings.ToLower(f.Message), "not found") {
		return fault.New(fault.NotFound, "Resource %s not found on server %s", uri, s.name).Detail("server", s.name).Detail("reason", f.Message)
	}
	return f.Detail("uri", uri)
}

// parseContents parses the result of resources/read. The answer of a resource with one content that is text has this as its
// structured content: a value if its MIME type is that of JSON. Otherwise the content blocks of the answer are the contents,
// {"uri","mimeType","text"|"blob"} each.
func parseContents(result json.RawMessage) *Answer {
	a := &Answer{}
	gjson.GetBytes(result, "contents").ForEach(func(_, content gjson.Result) bool {
		if content.IsObject() {
			a.Content = append(a.Content, json.RawMessage(content.Raw))
		}
		return true
	})
	if len(a.Content) != 1 {
		return a
	}
	content := gjson.ParseBytes(a.Content[0])
	text := content.Get("text")
	if text.Type != gjson.String {
		return a
	}
	a.Content, a.Structured = nil, json.RawMessage(text.Raw)
	if isJSON(content.Get("mimeType").Str) && json.Valid([]byte(text.Str)) {
		a.Structured = json.RawMessage(strings.TrimSpace(text.Str))
	}
	return a
}

// isJSON reports whether a MIME type is that of JSON (RFC 6839, section 3.1).
func isJSON(mimeType string) bool {
	kind, _, err := mime.ParseMediaType(mimeType)
	return err == nil && (kind == "application/json" || kind == "text/json" || strings.HasSuffix(kind, "+json"))
}

const (
	// shownResources is the most resources, and the most templates of resources, that a description names.
	shownResources = 10
	// maxShownName is the most bytes of a resource's URI and of its name in a description.
	maxShownName = 200
)

// Catalog returns what Tools returns, for a description of the server: that of ReadResource names the first resources, and the
// templates of their URIs.
func (s *Session) Catalog(ctx context.Context) ([]Tool, error) {
	tools, err := s.Tools(ctx)
	if last := len(tools) - 1; err == nil && last >= 0 && tools[last].Name == ReadResource {
		tools[last].Description = strings.TrimSpace(tools[last].Description + "\n" + s.resources(ctx))
	}
	return tools, err
}

// resources returns a line about the server's resources, and one about the templates. It returns "" if the server does not tell.
func (s *Session) resources(ctx context.Context) string {
	var lines []string
	result, err := listing{s, "resources"}.page(ctx, func(ctx context.Context) (mcp.Result, error) {
		return s.client.ListResources(ctx, &mcp.ListResourcesParams{})
	})
	lines = append(lines, s.offers("Resources", "uri", gjson.GetBytes(result, "resources"), gjson.GetBytes(result, "nextCursor").Str != "", err)...)
	result, err = listing{s, "templates of resources"}.page(ctx, func(ctx context.Context) (mcp.Result, error) {
		return s.client.ListResourceTemplates(ctx, &mcp.ListResourceTemplatesParams{})
	})
	lines = append(lines, s.offers("Templates", "uriTemplate", gjson.GetBytes(result, "resourceTemplates"), gjson.GetBytes(result, "nextCursor").Str != "", err)...)
	return strings.Join(lines, "\n")
}

// offers returns the line about a list, unless it is empty or the server failed.
func (s *Session) offers(what, key string, list gjson.Result, more bool, err error) []string {
	if err != nil { // many servers have only one of the two lists
		s.log.Debug("MCP server did not list its resources", "server", s.name, "list", strings.ToLower(what), "error", err)
		return nil
	}
	var items []string
	total := 0
	list.ForEach(func(_, item gjson.Result) bool {
		at, name := oneLine(item.Get(key).Str), oneLine(item.Get("name").Str)
		if at == "" {
			return true
		}
		if total++; total > shownResources {
			return true
		}
		if name != "" && name != at {
			at += " (" + name + ")"
		}
		items = append(items, at)
		return true
	})
	if total == 0 {
		return nil
	}
	line := what + ": " + strings.Join(items, ", ")
	switch rest := total - len(items); {
	case more:
		line += ", and more"
	case rest > 0:
		line += fmt.Sprintf(", and %d more", rest)
	}
	return []string{line}
}

// oneLine returns the beginning of a text in one line.
func oneLine(text string) string {
	return fault.Truncate(strings.Join(strings.Fields(text), " "), maxShownName)
}

// Links returns the links to resources among the blocks of an answer, as a JSON list of the blocks. It returns nil for an answer without links.
func (a *Answer) Links() json.RawMessage {
	var links [][]byte
	for _, block := range a.Content {
		if b := gjson.ParseBytes(block); b.Get("type").Str == "resource_link" && b.Get("uri").Type == gjson.String {
			links = append(links, block)
		}
	}
	if links == nil {
		return nil
	}
	return slices.Concat([]byte("["), bytes.Join(links, []byte(",")), []byte("]"))
}
