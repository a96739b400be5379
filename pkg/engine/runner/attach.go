package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/run/journal"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// holdKey sets Attach if the run that was started for the request's key is live. Otherwise it holds the key, so that no
// other process starts one.
func (l *Launch) holdKey(ctx context.Context) error {
	r := l.request
	if r.Key == "" {
		return nil
	}
	key := journal.NewKey(l.host.Home, r.Key)
	if !r.DryRun {
		if err := key.Hold(ctx); err != nil {
			return err
		}
		l.key = key
		l.releases = append(l.releases, key.Release)
	}
	if live := key.Live(); live != nil {
		if r.Resume != "" && !r.DryRun {
			if waited, err := r.awaitEnd(ctx, live); err != nil || waited {
				return err
			}
		}
		r.keyed = true
		return l.attach(ctx, live, true)
	}
	return nil
}

// attach sets Attach. It returns a fault if the run was given other answers, or does not do what is asked for. Of a run that
// has ended the caller has compared that, unless the request follows it.
func (l *Launch) attach(ctx context.Context, rec *journal.Reader, live bool) error {
	if live || l.request.Follow {
		if err := l.request.checkSame(ctx, l.host.Home, rec); err != nil {
			return err
		}
	}
	if err := l.request.checkAnswered(rec, live); err != nil {
		return err
	}
	l.Attach = rec.ID
	return nil
}

// checkSame returns a fault if a run is one of another workflow or has other inputs. It waits for the first event of a
// run that has just begun.
func (r *Request) checkSame(ctx context.Context, h *home.Home, rec *journal.Reader) error {
	first, err := firstEvent(ctx, rec)
	if err != nil || first == nil || first.Workflow == nil {
		return err
	}
	w := first.Workflow
	if err := r.checkOwn(h, first); err != nil {
		return err
	}
	known := r.Path != "" && w.Name != "-"
	if known && w.Name != r.Name && (w.Path == "" || w.Path != r.Path) {
		return r.suggestAnew(fault.New(fault.Usage, "Run %s runs another workflow, %s", rec.ID, w.Name).
			Then(fault.Step{Do: fault.DoWait, Run: rec.ID, Name: w.Name}))
	}
	inputs, err := event.Plain(first.Inputs, rec.Blob)
	if err != nil {
		return nil //nolint:nilerr // they cannot be compared
	}
	for _, name := range slices.Sorted(maps.Keys(r.Inputs)) {
		has := gjson.GetBytes(inputs, gjson.Escape(name))
		if has.Exists() && !strings.Contains(has.Raw, redact.Mark) && !same(r.Inputs[name], has.Raw) {
			return r.suggestAnew(fault.New(fault.Usage, "Run %s has another value of its input %q", rec.ID, name).
				Suggest("Leave out the inputs").Then(fault.Step{Do: fault.DoWait, Run: rec.ID}))
		}
	}
	return nil
}

// suggestAnew adds to the fault of a run that is another one how to start a new run.
func (r *Request) suggestAnew(f *fault.Fault) *fault.Fault {
	if r.keyed {
		return f.Suggest("For a new run of %s, give another idempotency key", r.Name)
	}
	return f.Suggest("For a new run of %s, leave out the run to go on from", r.Name)
}

var errFirst = errors.New("the first event is read")

// firstEvent waits for the first event of a live run. It returns nil if the run ends without one.
func firstEvent(ctx context.Context, rec *journal.Reader) (first *event.Event, err error) {
	err = rec.Follow(ctx, func(line []byte) error {
		if first, _, err = event.NewReader(bytes.NewReader(line)).Next(); err != nil {
			return err
		}
		return errFirst
	})
	if errors.Is(err, errFirst) {
		err = nil
	}
	return first, err
}

// same reports whether a value that is given is the one that a run has.
func same(given workflow.Given, raw string) bool {
	has := json.RawMessage(raw)
	if given.IsText() {
		return template.AsText(has) == given.Text
	}
	return bytes.Equal(rawjson.Compact(given.JSON), rawjson.Compact(has)) || template.AsText(given.JSON) == template.AsText(has)
}
