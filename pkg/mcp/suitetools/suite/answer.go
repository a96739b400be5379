package suite

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// Failure returns a failed result with a fault, in the form that the programs print.
func Failure(f *fault.Fault) *mcpserver.Result {
	f.Address(fault.Tools)
	doc, err := rawjson.Marshal(struct {
		Success bool         `json:"success"`
		Error   *fault.Fault `json:"error"`
	}{Error: f})
	if err != nil {
		doc = []byte(`{"success":false,"error":{"type":"internal_error","message":"the error cannot be shown"}}`)
	}
	return &mcpserver.Result{Structured: doc, IsError: true}
}

// Unread returns the fault of a command that failed.
func Unread(output []byte, program string, o *Outcome) *fault.Fault {
	f := &fault.Fault{}
	if json.Unmarshal([]byte(gjson.GetBytes(output, "error").Raw), f) != nil || f.Message == "" {
		return fault.New(fault.Protocol, "%s failed with exit status %d", program, o.Exit).Detail("stderr", o.Stderr)
	}
	return f
}

// Missing returns the fault of a command that failed to read what names in a URI stand for: a name that is not valid is one of a resource that
// does not exist.
func Missing(output []byte, program string, o *Outcome) *fault.Fault {
	f := Unread(output, program, o)
	if f.ExitStatus() == 2 && f.Type != fault.Security {
		f.Type = fault.NotFound
	}
	return f
}

// Head is a writer that keeps the first Most bytes, as Kept, and counts all, as Size.
type Head struct {
	Kept       bytes.Buffer
	Most, Size int
}

func (h *Head) Write(p []byte) (int, error) {
	h.Size += len(p)
	if room := h.Most - h.Kept.Len(); room > 0 {
		_, _ = h.Kept.Write(p[:min(len(p), room)]) // a Buffer never fails
	}
	return len(p), nil
}

// CheckNUL refuses the character that ends an argument in a command line.
func CheckNUL(tool, path, text string) *fault.Fault {
	if !strings.Contains(text, "\x00") {
		return nil
	}
	f := fault.New(fault.Usage, "The argument %s of %s must not contain the character U+0000", path, tool)
	f.Path = path
	return f
}
