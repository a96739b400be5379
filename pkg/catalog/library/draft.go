package library

import (
	"context"

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
		if err := l.create(text, draftsFolder, name+ending(file)); err != nil {
			return err
		}
		created, err = l.Draft(name)
		return err
	})
	return created, err
}
