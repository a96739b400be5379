package journal

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/event"
)

func TestFollowAndCancelFromElsewhere(t *testing.T) {
	h := tempHome(t)
	e := startElsewhere(t, h)
	e.tell(t, "await cancel")
	var kinds []string
	cancelled := false
	err := e.rec.Follow(t.Context(), func(line []byte) error {
		ev, _, err := event.NewReader(bytes.NewReader(line)).Next()
		if err != nil {
			return err
		}
		kinds = append(kinds, string(ev.Event))
		if !cancelled {
			cancelled = true
			if done, err := e.rec.Cancel(); !done || err != nil {
				t.Errorf("%v %v", done, err)
			}
		}
		return nil
	})
	if err != nil || strings.Join(kinds, " ") != "run_started run_finished" {
		t.Errorf("%v %v", kinds, err)
	}
	if err := e.Wait(); err != nil || status(t, e.rec) != event.Cancelled {
		t.Errorf("%v %s", err, status(t, e.rec))
	}
}

func TestFollowEndsWithItsContextAndWithItsReader(t *testing.T) {
	h := tempHome(t)
	e := startElsewhere(t, h)
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	if err := e.rec.Follow(ctx, func([]byte) error { cancel(why); return nil }); !errors.Is(err, why) {
		t.Errorf("%v", err)
	}
	if err := e.rec.Follow(t.Context(), func([]byte) error { return why }); !errors.Is(err, why) {
		t.Errorf("%v", err)
	}
	done := make(chan error, 1)
	seen := make(chan bool, 1)
	go func() { done <- e.rec.Follow(t.Context(), func([]byte) error { seen <- true; return nil }) }()
	<-seen
	e.tell(t, "die") // the follower of an interrupted run comes to an end
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestTheOwnFollowerSeesEveryLine(t *testing.T) {
	r := create(t, tempHome(t))
	var got bytes.Buffer
	done := make(chan error, 1)
	go func() { done <- r.Follow(func(line []byte) error { got.Write(line); return nil }) }()
	for range 500 {
		add(t, r, &event.Event{Event: event.NodeProgress, Node: "n", Message: strings.Repeat("ü", 500)})
	}
	r.EndFollowers()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join(r.Dir(), journalFile))
	if err != nil || !bytes.Equal(got.Bytes(), want) || bytes.Count(want, []byte("\n")) != 500 {
		t.Errorf("%d bytes of %d, %v", got.Len(), len(want), err)
	}
}
