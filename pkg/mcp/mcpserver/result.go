package mcpserver

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// wireResult is the result of tools/call as it goes out: in one pass, with nothing escaped that JSON does not ask for.
type wireResult struct {
	mcp.ResultBase
	Content           []content       `json:"content"`
	StructuredContent json.RawMessage `json:"structuredContent,omitempty"`
	IsError           bool            `json:"isError,omitempty"`
	ResultType        string          `json:"resultType,omitempty"`
}

// content is a block of a result, a text or a link.
type content struct {
	Type     string  `json:"type"`
	Text     *string `json:"text,omitempty"`
	URI      string  `json:"uri,omitempty"`
	Name     string  `json:"name,omitempty"`
	MIMEType string  `json:"mimeType,omitempty"`
	Size     int64   `json:"size,omitempty"`
}

func (r *Result) wire() (*wireResult, error) {
	if r == nil {
		return nil, errors.New("it is nothing at all")
	}
	w := &wireResult{IsError: r.IsError}
	text := cmp.Or(r.Text, r.Summary)
	if r.Structured != nil {
		var buf bytes.Buffer
		if err := json.Compact(&buf, r.Structured); err != nil {
			return nil, errors.New("it is no JSON")
		}
		if buf.Bytes()[0] != '{' {
			return nil, errors.New("its structured content is no JSON object")
		}
		w.StructuredContent = buf.Bytes()
		text = cmp.Or(r.Text, buf.String())
	}
	w.Content = append(w.Content, content{Type: "text", Text: &text})
	for _, l := range r.Links {
		w.Content = append(w.Content, content{Type: "resource_link", URI: l.URI, Name: l.Name, MIMEType: l.MIMEType, Size: l.Size})
	}
	return w, nil
}

// compact encodes a value of this package or a fault, which have no unencodable parts but a fault's details.
func compact(v any) json.RawMessage {
	raw, err := rawjson.Marshal(v)
	if err != nil {
		return rawjson.Quote(err.Error())
	}
	return raw
}
