package engine

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"sync"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
)

// privates are the long values with secrets that the templates of a run read. They are in scratch files of the journal. In the
// values of this run a reference stands for each, with a name that no blob has; in what is written, a public value without
// secrets takes its place. Its methods may be called by several goroutines.
type privates struct {
	newScratch func() (event.Scratch, error)

	mu     sync.Mutex
	values map[string]privateValue
}

type privateValue struct {
	scratch event.Scratch
	size    int
	public  json.RawMessage
}

// privatePrefix begins the name of a private value.
const privatePrefix = "private:"

// add returns the reference to a new value.
func (p *privates) add(v privateValue, mime string) event.Reference {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.values == nil {
		p.values = map[string]privateValue{}
	}
	name := privatePrefix + strconv.Itoa(len(p.values))
	p.values[name] = v
	return event.Reference{Blob: name, Bytes: v.size, MIME: mime}
}

func (p *privates) get(name string) (privateValue, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	v, ok := p.values[name]
	return v, ok
}

// load returns the content of a value.
func (p *privates) load(name string) ([]byte, error) {
	v, ok := p.get(name)
	if !ok {
		return nil, fault.New(fault.Internal, "there is no private value %s", name)
	}
	return v.scratch.Content(v.size)
}

// publish returns a value of the stream with public values in place of private ones, and whether there were any.
func (p *privates) publish(raw json.RawMessage) (public json.RawMessage, found bool) {
	if !bytes.Contains(raw, []byte(`"$blob":"`+privatePrefix)) {
		return raw, false
	}
	return event.MapReferences(raw, func(ref event.Reference) json.RawMessage {
		if v, ok := p.get(ref.Blob); ok {
			found = true
			return v.public
		}
		return ref.Value()
	}), found
}

// hide moves a long value with secrets out of memory. public is what is written in its place.
func (p *privates) hide(raw, public json.RawMessage) (json.RawMessage, error) {
	scratch, err := p.newScratch()
	if err != nil {
		return nil, err
	}
	_, err = scratch.Write(raw)
	if err := errors.Join(err, scratch.Close()); err != nil {
		scratch.Discard()
		return nil, err
	}
	return p.add(privateValue{scratch, len(raw), public}, event.MIMEJSON).Value(), nil
}

// capture returns what event.Capture writes a long output with secrets to.
func (p *privates) capture() (event.Private, error) {
	scratch, err := p.newScratch()
	return &capturedPrivate{scratch, p}, err
}

type capturedPrivate struct {
	event.Scratch
	of *privates
}

// Keep ends the output and returns the reference to its first size bytes.
func (c *capturedPrivate) Keep(size int, public event.Reference) (json.RawMessage, error) {
	if err := c.Close(); err != nil {
		c.Discard()
		return nil, err
	}
	return c.of.add(privateValue{c.Scratch, size, public.Value()}, public.MIME).Value(), nil
}

// isPrivate reports whether a reference is to a private value.
func isPrivate(ref string) bool { return strings.HasPrefix(ref, privatePrefix) }
