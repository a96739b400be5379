package journal

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/home"
)

// after records a run that goes on from another. If done is set, it has taken over everything.
func after(t *testing.T, h *home.Home, from *Writer, done bool) *Writer {
	t.Helper()
	r, err := Create(h, Options{Definition: []byte("{}"), ResumedFrom: from.ID})
	if err != nil {
		t.Fatal(err)
	}
	add(t, r, &event.Event{Event: event.RunStarted})
	if done {
		if err := r.MarkSuperseded(find(t, h, from.ID)); err != nil {
			t.Fatal(err)
		}
	}
	r.Close()
	return r
}

func TestNewestIsTheLastThatTookOverAll(t *testing.T) {
	h := tempHome(t)
	first := create(t, h)
	first.Close()
	second := after(t, h, first, true)
	killed := after(t, h, second, false)
	alone := create(t, h)
	alone.Close()
	want := func(when, is string, from ...*Writer) {
		t.Helper()
		for _, r := range from {
			if got := find(t, h, r.ID).ResumePoint(); got.ID != is {
				t.Errorf("%s: from %s on the newest is %s, not %s", when, r.ID, got.ID, is)
			}
		}
	}
	want("a killed successor", second.ID, first, second, killed)
	want("no relation", alone.ID, alone)
	third := after(t, h, second, true)
	want("another successor", third.ID, first, second, killed, third)
	if got := find(t, h, second.ID).LastSuccessor(); got.ID != third.ID {
		t.Errorf("the latest is %s", got.ID)
	}
	late := after(t, h, third, false) // killed between the two steps of taking over
	if err := os.WriteFile(filepath.Join(third.Dir(), successorFile), []byte(late.ID+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	want("killed right after it took over", late.ID, first, second, third, late)
	if err := os.RemoveAll(late.Dir()); err != nil {
		t.Fatal(err)
	}
	for _, gone := range []*Writer{second, third} {
		if err := os.RemoveAll(gone.Dir()); err != nil {
			t.Fatal(err)
		}
	}
	want("with nothing left of what it took over from", killed.ID, killed)
	want("with nothing left of the successor", first.ID, first)
}

func TestARunOfWhichNothingIsRecordedIsTakenAway(t *testing.T) {
	h := tempHome(t)
	empty, begun := create(t, h), create(t, h)
	add(t, begun, &event.Event{Event: event.RunStarted})
	for r, removed := range map[*Writer]bool{empty: true, begun: false} {
		if r.Remove() != removed || exists(r.Dir()) == removed {
			t.Errorf("removed: %v", removed)
		}
		r.Close()
	}
}

func TestALongValueIsTakenOverOnce(t *testing.T) {
	h := tempHome(t)
	first, second := create(t, h), create(t, h)
	defer first.Close()
	defer second.Close()
	content := strings.Repeat("x", 100)
	name, err := first.PutBlob([]byte(content))
	if err != nil {
		t.Fatal(err)
	}
	other := event.Digest([]byte("zz"))
	if err := os.WriteFile(blobPath(first.Dir(), other), []byte("z"), 0o600); err != nil {
		t.Fatal(err)
	}
	from := find(t, h, first.ID)
	for what, c := range map[string]struct {
		ref   event.Reference
		found bool
	}{
		"whole":   {event.Reference{Blob: name, Bytes: 100}, true},
		"missing": {event.Reference{Blob: event.Digest([]byte("y")), Bytes: 1}, false},
		"torn":    {event.Reference{Blob: other, Bytes: 2}, false},
	} {
		r := create(t, h)
		found, err := r.Adopt(c.ref, from)
		got, _ := r.Blob(c.ref.Blob)
		if found != c.found || err != nil || (string(got) == content) != c.found {
			t.Errorf("%s: found %v %v, %q", what, found, err, got)
		}
		r.Close()
	}
	if err := os.WriteFile(filepath.Join(second.Dir(), blobsDir), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if found, err := second.Adopt(event.Reference{Blob: name, Bytes: 100}, from); !found || err == nil {
		t.Errorf("no room for it: found %v, %v", found, err)
	}
}
