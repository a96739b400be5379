package reader_test

import (
	"fmt"
	"os"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/run/journal"
	"github.com/pflow-suite/pflow/pkg/run/reader"
)

func ExampleRuns_List() {
	dir, _ := os.MkdirTemp("", "reader-example-")
	defer func() { _ = os.RemoveAll(dir) }()
	h, _ := home.Open(dir, "")
	w, _ := journal.Create(h, journal.Options{Definition: []byte("{}")})
	_ = w.Append(&event.Event{Event: event.RunStarted, Workflow: &event.Workflow{Name: "deploy"}})
	_ = w.Append(&event.Event{Event: event.RunFinished, Status: event.Completed})
	w.Close()

	for run, err := range reader.Open(h).List(reader.Query{Workflow: "deploy"}) {
		fmt.Println(run.Workflow, run.Status, err)
	}
	// Output: deploy completed <nil>
}
