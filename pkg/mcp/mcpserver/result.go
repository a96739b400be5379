package mcpserver

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// Result is the answer of a tool.
type Result struct {
	// Structured is a JSON object, sent as structuredContent. If a failed call's Structured does not match the tool's
	// OutputSchema, only the text is sent: clients check even failures against that schema.
	Structured json.RawMessage
	// Text is what a client without structured content shows; if it is empty, that is Structured as compact JSON.
	Text string
	// Summary replaces Text for a client that receives Structured and whose revision has structured content (2025-06-18 and
	// later), so that a long answer is sent once. An older client receives the text alone. Without a Summary, and
	// for a failure, every client receives both. Without Structured, Summary is the text if Text is empty.
	Summary string
	// Supplement is a second text for a client whose revision has no structured content. It is for what Text leaves out of
	// Structured.
	Supplement string
	// IsError reports to the client's model that the tool failed.
	IsError bool
	// Links point to resources that the answer refers to.
	Links []Link
	// Blocks are further content blocks in the form of MCP, such as images; each is a JSON object.
	Blocks []json.RawMessage
	// Task replaces all of the above: the call goes on as a task. A client that does not take tasks (see Call.TakesTask) gets the
	// error -32021 (missing required client capability) instead.
	Task *Task
	// Input, if it is not nil, is sent in place of the other fields. Only a call whose Asking is ByResult may return it.
	Input *Input
	// Err replaces all of the above: the call is answered with an error of the protocol. It is an *Error or a fault, as a Method
	// returns them.
	Err error
}

// Link is a resource that a result points to.
type Link struct {
	URI, Name, MIMEType string
	// Size is in bytes; 0 is unknown.
	Size int64
}

// wireResult is the result of tools/call as it is sent. It is encoded once, and HTML in it is not escaped.
type wireResult struct {
	mcp.ResultBase
	Content           []content       `json:"content"`
	StructuredContent json.RawMessage `json:"structuredContent,omitempty"`
	IsError           bool            `json:"isError,omitempty"`
	ResultType        string          `json:"resultType,omitempty"`
}

// content is a block of a result: a text, a link, or another one in its own form.
type content struct {
	form     json.RawMessage // of a block of Result.Blocks
	Type     string          `json:"type"`
	Text     *string         `json:"text,omitempty"`
	URI      string          `json:"uri,omitempty"`
	Name     string          `json:"name,omitempty"`
	MIMEType string          `json:"mimeType,omitempty"`
	Size     int64           `json:"size,omitempty"`
}

// MarshalJSON implements json.Marshaler.
func (c content) MarshalJSON() ([]byte, error) {
	if c.form != nil {
		return c.form, nil
	}
	type fields content
	return rawjson.Marshal(fields(c))
}

func (r *Result) encode() (*wireResult, error) {
	if r == nil {
		return nil, errors.New("it is nil")
	}
	w := &wireResult{IsError: r.IsError}
	text := cmp.Or(r.Text, r.Summary)
	if r.Structured != nil {
		var buf bytes.Buffer
		if err := json.Compact(&buf, r.Structured); err != nil {
			return nil, errors.New("its structured content is not JSON")
		}
		if buf.Bytes()[0] != '{' {
			return nil, errors.New("its structured content is not a JSON object")
		}
		w.StructuredContent = buf.Bytes()
		text = cmp.Or(r.Text, buf.String())
	}
	w.Content = append(w.Content, content{Type: "text", Text: &text})
	for _, l := range r.Links {
		w.Content = append(w.Content, content{Type: "resource_link", URI: l.URI, Name: l.Name, MIMEType: l.MIMEType, Size: l.Size})
	}
	for _, block := range r.Blocks {
		if !gjson.ParseBytes(block).IsObject() || !json.Valid(block) {
			return nil, errors.New("one of its blocks is not a JSON object")
		}
		w.Content = append(w.Content, content{form: block})
	}
	return w, nil
}

// wire returns the result of a call in the form of the client's revision.
func (e *entry) wire(r *Result, revision string) (*wireResult, error) {
	wire, err := r.encode()
	if err != nil {
		return nil, err
	}
	switch {
	case wire.StructuredContent == nil:
	case wire.IsError && !e.allows(wire.StructuredContent):
		wire.StructuredContent = nil
	case r.Summary == "" || wire.IsError:
	case revision >= structuredRevision:
		wire.Content[0].Text = &r.Summary
	default:
		wire.StructuredContent = nil
	}
	if r.Supplement != "" && revision < structuredRevision {
		wire.Content = slices.Insert(wire.Content, 1, content{Type: "text", Text: &r.Supplement})
	}
	if revision >= statelessRevision {
		wire.ResultType = "complete"
	}
	return wire, nil
}

// compact encodes a value of this package, or a fault. Only the details of a fault can fail to encode; then it returns the
// text of the error.
func compact(v any) json.RawMessage {
	raw, err := rawjson.Marshal(v)
	if err != nil {
		return rawjson.Quote(err.Error())
	}
	return raw
}
