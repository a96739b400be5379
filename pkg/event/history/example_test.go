package history_test

import (
	"fmt"
	"strings"

	"github.com/pflow-suite/pflow/pkg/event/history"
)

func ExampleRead() {
	run, err := history.Read(strings.NewReader(`{"v":1,"seq":1,"event":"run_started","run":"r1","time":"2026-01-01T00:00:00Z","nodes":["fetch","sum"]}
{"v":1,"seq":2,"event":"node_started","run":"r1","time":"2026-01-01T00:00:00Z","node":"fetch","type":"http","attempt":1}
{"v":1,"seq":3,"event":"node_completed","run":"r1","time":"2026-01-01T00:00:02Z","node":"fetch","action":"default"}
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for node := range run.All() {
		fmt.Printf("%s: %q %s\n", node.Path, node.State, node.Elapsed(run.Time))
	}
	// Output:
	// fetch: "completed" 2s
	// sum: "" 0s
}
