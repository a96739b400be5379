package library

import (
	"bytes"
	"context"
	"path/filepath"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// Create writes a new draft. The text decides its form. If a draft has the name already, or a saved workflow that would hide
// the draft, the error is an already_exists.
func (l *Library) Create(ctx context.Context, name string, text []byte) (*Entry, error) {
	if err := home.CheckName("workflow", name); err != nil {
		return nil, err
	}
	file, err := workflow.Parse(name, text)
	if err != nil {
		return nil, err
	}
	var created *Entry
	err = l.home.Lock(ctx, savedFolder, func() error {
		for _, saved := range []bool{true, false} {
			switch there, err := l.at(saved, name); {
			case err != nil:
				return err
			case there != nil:
				return taken(folder(saved), name)
			}
		}
		if err := create(l.home, text, draftsFolder, name+ending(file)); err != nil {
			return err
		}
		created, err = l.Draft(name)
		return err
	})
	return created, err
}

// Written is a draft that was written.
type Written struct {
	*Entry
	// Replaced reports whether the draft existed before.
	Replaced bool
}

// Write writes a draft, whatever its text is, and replaces an existing draft of that name in one rename. The form of the text decides
// the ending of the file; a text of neither form is kept in a JSON file. A draft that has a folder of its own stays in it. An empty
// text is a usage_error and changes nothing, because a program that fails writes one.
func (l *Library) Write(ctx context.Context, name string, text []byte) (*Written, error) {
	if err := home.CheckName("workflow", name); err != nil {
		return nil, err
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, fault.New(fault.Usage, "The text of the draft %q is empty; nothing was changed", name).
			Suggest(`Write a workflow, such as {"nodes": [{"id": "hello", "type": "echo"}]}`)
	}
	end := jsonEnding
	if workflow.IsMarkdown(text) {
		end = markdownEnding
	}
	var written *Written
	err := l.home.Lock(ctx, savedFolder, func() error {
		before, err := l.at(false, name)
		if err != nil {
			return err
		}
		if before == nil {
			err = create(l.home, text, draftsFolder, name+end)
		} else {
			folder, _ := l.home.Rel(filepath.Dir(before.Path))
			err = replace(before, text, folder, name+end)
		}
		if err != nil {
			return err
		}
		draft, err := l.Draft(name)
		written = &Written{draft, before != nil}
		return err
	})
	return written, err
}
