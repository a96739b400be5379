package cluster

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/event"
)

func TestValuesThatAreStoredForThemselvesAreNoEvents(t *testing.T) {
	w := newWorker(t, "")
	inner := event.Digest([]byte("inner"))
	list := `[{"$blob":"` + inner + `","bytes":5,"mime":"text/plain; charset=utf-8"}]`
	content := map[string]string{inner: "inner", event.Digest([]byte(list)): list}
	load := func(digest string) ([]byte, error) {
		text, ok := content[digest]
		if !ok {
			return nil, errors.New("unknown")
		}
		return []byte(text), nil
	}
	line := `{"v":1,"seq":2,"event":"node_completed","outputs":` + string(event.Reference{Blob: event.Digest([]byte(list)), Bytes: len(list), MIME: event.MIMEJSON}.Value()) + `}`
	refs, size, err := referenced(json.RawMessage(line), load)
	if err != nil || len(refs) != 2 || size != len(list)+5 {
		t.Fatalf("%v of %d bytes, %v", refs, size, err)
	}
	known := map[string]bool{}
	values, err := storeValues(w.store, "r01", refs, load, known)
	if err != nil || strings.Count(string(values), "\n") != 2 {
		t.Fatalf("%s, %v", values, err)
	}
	if again, err := storeValues(w.store, "r01", refs, load, known); err != nil || len(again) > 0 {
		t.Errorf("stored again: %s, %v", again, err)
	}
	p, err := w.store.Pack("r01", []byte(begun+"\n"+string(values)+line+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := openRecord(w.store, p)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(r); err != nil || string(b) != begun+"\n"+line+"\n" {
		t.Errorf("the events are %s, %v", b, err)
	}
	s := &State{store: w.store, events: p}
	var whole []string
	if err := s.Each(func(line []byte, load event.Load) error {
		text, err := event.Inline(line, load)
		whole = append(whole, string(text))
		return err
	}); err != nil || len(whole) != 2 || !strings.Contains(whole[1], `"outputs":["inner"]`) {
		t.Errorf("%q, %v", whole, err)
	}
	if _, err := r.load("sha256:00"); err == nil {
		t.Error("an unknown value was loaded")
	}
}
