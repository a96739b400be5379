package runner

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/catalog/library"
	"github.com/pflow-suite/pflow/pkg/engine/flow"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/check"
)

// subKey identifies a sub-workflow in a run: what a node names, in a workflow whose paths start from a folder.
type subKey struct{ from, ref string }

func keyOf(w event.Workflow) subKey { return subKey{w.From, w.Ref} }

// subsOf returns the workflows that the nodes of a workflow run, and those inside them, each once: those that have a literal name.
func subsOf(top *flow.Flow) []event.Workflow {
	var all []event.Workflow
	seen := map[subKey]bool{}
	var visit func(s *flow.Flow)
	visit = func(s *flow.Flow) {
		for _, id := range slices.Sorted(maps.Keys(s.Subs)) {
			inner := s.Subs[id]
			node, ok := s.Workflow.Node(id)
			if !ok || inner.File == nil || s.File == nil {
				continue
			}
			if named, ok := workflow.SubOf(node.Params); ok && named.Inline == nil {
				w := event.Workflow{Name: inner.Name, Digest: inner.Digest, Definition: inner.File.JSON(), Ref: named.Ref, From: s.File.Dir, Dir: inner.File.Dir}
				if seen[keyOf(w)] {
					continue
				}
				seen[keyOf(w)] = true
				all = append(all, w)
			}
			visit(inner)
		}
	}
	visit(top)
	return all
}

// opener returns how to open the sub-workflows of the request: as the run to go on from has recorded them, if the request takes its
// workflow from there, and else as they are now.
func (l *Launch) opener(lib *library.Library) (check.Load, error) {
	if !l.request.Stored || l.origin == nil && l.events == nil {
		return lib.OpenSub, nil
	}
	var events io.Reader
	if l.origin == nil {
		events = io.NewSectionReader(l.events, 0, l.whole)
	} else {
		file, err := l.origin.Open()
		if err != nil {
			return nil, err
		}
		defer func() { _ = file.Close() }()
		events = file
	}
	recorded, run, err := recordedSubs(events)
	if err != nil {
		return nil, err
	}
	load := l.blobs()
	return func(from *workflow.File, ref string) (*workflow.File, error) {
		w, ok := recorded[subKey{from.Dir, ref}]
		if !ok {
			return lib.OpenSub(from, ref)
		}
		definition, err := event.Plain(w.Definition, load)
		if err != nil {
			return nil, err
		}
		if bytes.Contains(definition, []byte(redact.Mark)) {
			now := event.Workflow{Name: ref}
			if strings.Contains(ref, "/") || filepath.Ext(ref) != "" {
				now.Path = filepath.Join(from.Dir, ref)
			}
			if filepath.IsAbs(ref) {
				now.Path = ref
			}
			if definition, err = restoreLiterals(l.host, run, definition, now); err != nil {
				return nil, err
			}
		}
		file, err := workflow.Parse(strings.TrimSuffix(w.Name, ".md"), definition)
		if err == nil {
			file.Dir = w.Dir
		}
		return file, err
	}, nil
}

// recordedSubs returns the sub-workflows that the events of a run have, and the run: those with a literal name from when it began, the
// others from when they started.
func recordedSubs(stream io.Reader) (recorded map[subKey]event.Workflow, run string, err error) {
	recorded = map[subKey]event.Workflow{}
	definitions := map[string]event.Workflow{} // of several with one digest, the first has the definition
	for events := event.NewReader(stream); ; {
		e, _, err := events.Next()
		if errors.Is(err, io.EOF) {
			return recorded, run, nil
		}
		if err != nil {
			return nil, run, err
		}
		run = e.Run
		all := e.Workflows
		if e.Workflow != nil && e.Workflow.Ref != "" {
			all = append(all, *e.Workflow)
		}
		for _, w := range all {
			if len(w.Definition) > 0 {
				definitions[w.Digest] = w
			}
			if first, ok := definitions[w.Digest]; ok {
				w.Definition = first.Definition
				recorded[keyOf(w)] = w
			}
		}
	}
}
