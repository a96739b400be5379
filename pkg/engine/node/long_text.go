package node

import (
	"encoding/json"
	"errors"
	"io"
	"sync"

	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// LongText is a text in UTF-8 that is not held in memory.
type LongText struct {
	// Open returns a reader of the text, Public one of the text without secrets.
	Open, Public func() (io.ReadCloser, error)
	// Secret is set if the text has a secret.
	Secret bool
}

// LongParam returns the parameter of a node type for which a text of any length need not be held in memory, or "".
func LongParam(nodeType string) string {
	switch nodeType {
	case "shell":
		return "stdin"
	case "write-file":
		return "content"
	}
	return ""
}

// noText stands among the parameters for the long text.
const noText = `""`

// takeLong takes a parameter that consists of a template for a long text out of the parameters.
func (p *Call) takeLong(kind nodetype.Type, params map[string]json.RawMessage, b *Binding) {
	name := LongParam(kind.Name)
	written, given := params[name]
	if !given || b.Long == nil {
		return
	}
	expr, whole := template.Whole(template.AsText(written))
	if !whole {
		return
	}
	ref, ok := expr.Ref()
	if _, local := p.locals[ref.Root]; !ok || local {
		return
	}
	if p.long = b.Long(ref); p.long != nil {
		params[name] = json.RawMessage(noText)
		p.changed = append(p.changed, name)
	}
}

// Long returns the long text of the call, or nil if it has none, and what precedes and follows it in the parameters. params are
// those of the call, in which values may have been replaced.
func (p *Call) Long(params json.RawMessage) (before, after json.RawMessage, text *LongText) {
	if p.long == nil {
		return nil, nil, nil
	}
	from, to := memberValue(params, LongParam(p.kind.Name))
	return params[:from], params[to:], p.long
}

// longReader reads the text of a parameter. Its Err may be called at the same time.
type longReader struct {
	io.ReadCloser
	mu  sync.Mutex
	err error
}

// openLong returns the text of a parameter that may be long; raw is its value if it is not.
func (p *Call) openLong(raw json.RawMessage) (*longReader, error) {
	if p.long == nil {
		return &longReader{ReadCloser: io.NopCloser(textOf(raw))}, nil
	}
	r, err := p.long.Open()
	return &longReader{ReadCloser: r}, err
}

func (r *longReader) Read(b []byte) (int, error) {
	n, err := r.ReadCloser.Read(b)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrClosedPipe) {
		r.mu.Lock()
		r.err = err
		r.mu.Unlock()
	}
	return n, err
}

// Err returns the error with which reading has ended, if there was one.
func (r *longReader) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}
