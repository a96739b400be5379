package report

import (
	"fmt"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/event/history"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// fact is a short property of the run or of a node.
type fact struct {
	Name, Text string
	Code       bool
	// Time is the exact time, for a fact that is one.
	Time string
}

type facts []fact

// add adds a fact, unless its text is empty.
func (f *facts) add(name, text string) { f.append(fact{Name: name, Text: oneLine(text)}) }

// code adds a fact whose text is a name or a path.
func (f *facts) code(name, text string) { f.append(fact{Name: name, Text: oneLine(text), Code: true}) }

// at adds a time in its form for people, unless it is zero.
func (f *facts) at(name, text string, t time.Time) {
	if !t.IsZero() {
		f.append(fact{Name: name, Text: text, Time: t.UTC().Format(time.RFC3339Nano)})
	}
}

func (f *facts) append(one fact) {
	if one.Text != "" {
		*f = append(*f, one)
	}
}

// facts returns the facts about the run.
func (r *writer) facts() (f facts) {
	f.code("Run", r.run.ID())
	f.at("Started", r.from.UTC().Format("2 January 2006, 15:04:05 UTC"), r.from)
	if took := r.run.Elapsed(r.Now); took > 0 {
		f.add("Took", history.FormatDuration(took))
	}
	usage := r.run.Usage
	if last := r.run.Finished; last != nil {
		usage = last.Usage
	}
	f.add("Language models", usage.String())
	if budget, spent := r.run.Budget(r.Now); budget != nil {
		f.add("Budget", spent.Of(budget))
	}
	if budget, spent := r.run.Budget(r.Now); budget != nil {
		f.add("Spent", spent.Of(budget))
	}
	if first := r.run.Started; first != nil {
		f.code("Resumed from", first.ResumedFrom)
		f.code("Working directory", first.Cwd)
		if first.Workflow != nil {
			f.code("Workflow", first.Workflow.Path)
		}
	}
	return f
}

// nodeFacts returns the facts about a node.
func (r *writer) nodeFacts(n *history.Node, kind string) (f facts) {
	f.code("Type", kind)
	f.code("Runs on", n.RunsOn)
	if n.MCP != nil {
		f.code("MCP server", n.MCP.Server)
		f.code("Tool", n.MCP.Tool)
	}
	f.code("Model", r.model(n))
	f.at("Started", r.after(n.Began), n.Began)
	if n.State.Ended() && n.Ended != n.Began {
		f.at("Ended", r.after(n.Ended), n.Ended)
	}
	if n.State == history.Reused {
		from := "Reused from run"
		if n.Cached {
			from = "Cached from run"
		}
		f.code(from, n.FromRun)
	}
	if n.Action != workflow.ActionDefault {
		f.code("Action", n.Action)
	}
	switch n.State {
	case history.Skipped:
		f.add("Skipped because", n.Reason)
	case history.Cancelled:
		f.add("Cancelled because of", n.Reason)
	case history.Running:
		f.add("Last message", n.Message)
		if n.Goal > 0 {
			f.add("Progress", fmt.Sprintf("%g of %g", n.Done, n.Goal))
		}
	}
	if n.Redacted {
		f.add("Secrets", "removed from the outputs")
	}
	return f
}

// model returns the language model that a node used, from its output llm_usage, or that of the first item of its batch.
func (r *writer) model(n *history.Node) string {
	for _, path := range []string{"llm_usage.model", "results.0.llm_usage.model"} {
		if model := gjson.GetBytes(n.Outputs, path); model.Type == gjson.String && model.Str != "" {
			return model.Str
		}
	}
	return ""
}

// after formats a time as its distance from the start of the run.
func (r *writer) after(t time.Time) string { return "+" + history.FormatDuration(t.Sub(r.from)) }
