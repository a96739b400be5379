package cluster

import (
	"encoding/json"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/run/cluster/payload"
)

// Job is a run, as it crosses the cluster.
type Job struct {
	V int `json:"v"`
	// Run is the id of the run and of its Temporal workflow. What pflow-exec executes for it on workers goes on from a run of this id, so
	// the keys of its nodes are the same everywhere.
	Run string `json:"run"`
	// Nodes are the ids of the workflow's nodes.
	Nodes []string `json:"nodes"`
	// Content is a Content.
	Content payload.Packed `json:"content"`
	// Dir is the folder to run in.
	Dir string `json:"dir"`
	// Flags are flags of pflow-exec run.
	Flags []string `json:"flags,omitempty"`
	// Events are those of the run so far, if it has paused, or of the run that it goes on from: then Resumes is set.
	Events  payload.Packed `json:"events,omitzero"`
	Resumes bool           `json:"resumes,omitempty"`
	// Answers are values of --approve for a run that has paused. Person is set if a person has given them.
	Answers []string `json:"answers,omitempty"`
	Person  bool     `json:"person,omitempty"`
}

// approval is the content of approveSignal: the answers, or with Person an object that has them. A client of an earlier version, and a worker of
// one, know the list.
type approval struct {
	Answers []string `json:"answers"`
	Person  bool     `json:"person"`
}

// MarshalJSON implements json.Marshaler.
func (a approval) MarshalJSON() ([]byte, error) {
	if !a.Person {
		return rawjson.Marshal(a.Answers)
	}
	type plain approval
	return rawjson.Marshal(plain(a))
}

// UnmarshalJSON implements json.Unmarshaler.
func (a *approval) UnmarshalJSON(raw []byte) error {
	if *a = (approval{}); json.Unmarshal(raw, &a.Answers) == nil {
		return nil
	}
	type plain approval
	return json.Unmarshal(raw, (*plain)(a))
}

// Content is what a run is of: a whole workflow, its inputs as JSON values and as text that takes the declared types, and the content of
// a file with variables for its environment.
type Content struct {
	Workflow []byte            `json:"workflow"`
	Values   map[string][]byte `json:"values,omitempty"`
	Texts    map[string]string `json:"texts,omitempty"`
	EnvFile  []byte            `json:"env_file,omitempty"`
}

// JobEnd is how the execution of a run on a worker ended.
type JobEnd struct {
	Status event.Status `json:"status"`
	// Exit is the exit status of pflow-exec run.
	Exit int `json:"exit"`
	// Events are those of the run.
	Events payload.Packed `json:"events,omitzero"`
	// Refused is set if nothing ran.
	Refused *fault.Fault `json:"refused,omitempty"`
}

// The names of the workflow and the activity of a run, and of the signal with answers to its questions.
const (
	runWorkflowName = "pflow-run"
	runActivityName = "pflow-exec-run"
	approveSignal   = "approve"
)

// The keys of the memo of a run's workflow.
const (
	nameMemo   = "workflow"
	statusMemo = "status"
)

// runsQueue returns the task queue of the runs of a queue. It is one of its own, so that runs do not take the slots of their nodes.
func runsQueue(queue string) string { return queue + "/runs" }
