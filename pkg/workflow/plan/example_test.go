package plan_test

import (
	"fmt"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/plan"
)

func Example() {
	file, err := workflow.Parse("w.json", []byte(`{
		"nodes": [{"id": "test", "type": "shell"}, {"id": "release", "type": "shell"}, {"id": "report", "type": "echo"}],
		"edges": [{"from": "test", "to": "release"}, {"from": "test", "to": "report", "action": "error"}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := plan.New(file.Workflow)
	if err != nil {
		fmt.Println(err)
		return
	}
	for !p.Done() {
		for _, step := range p.Ready() {
			fmt.Println("ready:", step.Node)
			ended := &event.Event{Event: event.NodeCompleted, Node: step.Node, Action: workflow.ActionDefault}
			for _, next := range p.Apply(ended) {
				fmt.Println(next.Event, next.Node)
			}
		}
	}
	// Output:
	// ready: test
	// node_skipped report
	// ready: release
}
