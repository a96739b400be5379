package registry

import (
	"errors"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/catalog/search"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home/settings"
	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// Query selects node types: those that match Words, or all if it is blank. With Server, only tools of that MCP server.
type Query struct{ Words, Server string }

// Found has the node types that a query selects: the best match first, or all sorted by name. A type is decoded when it is asked
// for, so that a page of 10,000 types decodes only its own.
type Found struct {
	// Fault is nil, or says why only built-in types are among them: registry.json or settings.json cannot be used.
	Fault *fault.Fault

	hits    []search.Hit
	builtin []string
	entries *snapshot // nil with a Fault
}

// Len returns the number of types.
func (f *Found) Len() int { return len(f.hits) }

// Name returns the name of a type.
func (f *Found) Name(i int) string { return f.name(int(f.hits[i].Index), int(f.hits[i].Document)) }

func (f *Found) name(index, doc int) string {
	if index == 0 {
		return f.builtin[doc]
	}
	return string(f.entries.name(doc))
}

// Type decodes a type. The error is a fault if its entry is broken; other types are not affected.
func (f *Found) Type(i int) (nodetype.Type, error) {
	h := f.hits[i]
	if h.Index == 0 {
		t, _ := nodetype.Builtin(f.builtin[h.Document])
		return t, nil
	}
	return f.entries.typeOf(f.entries.at(int(h.Document)))
}

// Find calls use with the types that a query selects, and again if registry.json changes meanwhile. What it is called with may not
// be used afterwards. A registry or settings that cannot be used is no error: then use is called with the built-in types.
func (r *Registry) Find(q Query, use func(*Found) error) error {
	allowed, err := r.rules()
	if f, ok := errors.AsType[*fault.Fault](err); ok {
		return use(r.found(q, &settings.Settings{}, nil, f))
	}
	if err != nil {
		return err
	}
	var failed error
	err = r.read(func(s *snapshot) error {
		failed = use(r.found(q, allowed, s, nil))
		return failed
	})
	f, ok := errors.AsType[*fault.Fault](err)
	if !ok || errors.Is(err, failed) { // such as a read that was called off
		return err
	}
	return use(r.found(q, allowed, nil, f))
}

// found selects from the built-in types, and from the entries unless s is nil.
func (r *Registry) found(q Query, allowed *settings.Settings, s *snapshot, f *fault.Fault) *Found {
	found := &Found{Fault: f, builtin: nodetype.BuiltinNames(), entries: s}
	permitted := func(h search.Hit) bool {
		if h.Index == 0 {
			return q.Server == "" && allowed.Allowed(found.builtin[h.Document])
		}
		return s.of(int(h.Document), q.Server) && s.allowed(int(h.Document), allowed)
	}
	if strings.TrimSpace(q.Words) == "" {
		found.all(permitted)
		return found
	}
	var own search.Builder
	for _, name := range found.builtin {
		t, _ := nodetype.Builtin(name)
		own.Add(document(t))
	}
	over := []*search.Index{own.Index()}
	if s != nil {
		over = append(over, s.words())
	}
	hits := search.Search(q.Words, found.name, over...)
	found.hits = slices.DeleteFunc(hits, func(h search.Hit) bool { return !permitted(h) })
	return found
}

// all selects all permitted types, sorted by name. The entries are sorted, and so are the names of the built-in types.
func (f *Found) all(permitted func(search.Hit) bool) {
	add := func(index, doc int) {
		if h := (search.Hit{Index: int32(index), Document: int32(doc)}); permitted(h) {
			f.hits = append(f.hits, h)
		}
	}
	next := 0
	if f.entries != nil {
		f.hits = make([]search.Hit, 0, f.entries.len()+len(f.builtin))
		for i, name := range f.builtin {
			for before := f.entries.search(name); next < before; next++ {
				add(1, next)
			}
			add(0, i)
		}
		for ; next < f.entries.len(); next++ {
			add(1, next)
		}
		return
	}
	for i := range f.builtin {
		add(0, i)
	}
}
