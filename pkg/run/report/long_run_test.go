//go:build !race

package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/event/history"
	"github.com/pflow-suite/pflow/pkg/fault"
)

// The page of any part of a run is complete.
func TestAnyBeginningOfARunIsAPage(t *testing.T) {
	lines := strings.SplitAfter(stream(t), "\n")
	for i := range lines {
		for _, status := range []event.Status{"", running, interrupted} {
			page := made(t, strings.Join(lines[:i], ""), Options{Status: status, Now: time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)})
			checkPage(t, page)
		}
	}
}

// The page of a very large run is bounded.
func TestPagesOfLongRunsAreBounded(t *testing.T) {
	for name, c := range map[string]struct {
		nodes, items, inner int
		most                int
	}{
		"nodes":      {4000, 0, 0, 14 << 20},
		"items":      {1, 13_000, 0, 5 << 20},
		"inner ones": {1, 0, 10_000, 6 << 20},
	} {
		t.Run(name, func(t *testing.T) {
			h := &history.Run{}
			at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			failure := fault.New(fault.Execution, "%s", strings.Repeat("all work ", 2500))
			text, _ := json.Marshal(map[string]string{"stdout": strings.Repeat("all work ", 2500)})
			tell := func(e event.Event) {
				e.Time = at.Add(time.Duration(len(h.Nodes)) * time.Millisecond)
				h.Apply(&e)
			}
			tell(event.Event{Event: event.RunStarted, Run: "r1"})
			for i := range c.nodes {
				id := "n" + thousands(i)
				tell(event.Event{Event: event.NodeStarted, Node: id, Type: "shell", Attempt: 1})
				for k := range c.items {
					tell(event.Event{Event: event.NodeFailed, Node: id, Item: &k, Error: failure})
				}
				for k := range c.inner {
					tell(event.Event{Event: event.NodeCompleted, Node: id + "[" + thousands(k) + "]/x", Outputs: text})
				}
				tell(event.Event{Event: event.NodeCompleted, Node: id, Outputs: text})
			}
			var page bytes.Buffer
			if err := Write(&page, h, Options{}); err != nil {
				t.Fatal(err)
			}
			if page.Len() > c.most {
				t.Errorf("%d bytes", page.Len())
			}
			if !strings.Contains(page.String(), "Not shown here") && !strings.Contains(page.String(), "The first 12,000 of 13,000 items") {
				t.Error("the page does not say what is not shown")
			}
		})
	}
}
