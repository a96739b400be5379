package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodes/nodeprogram"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/process"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// askTool is claude's tool that asks the user up to four questions (code.claude.com/docs/en/agent-sdk/user-input).
const askTool = "AskUserQuestion"

// The answers to a question about permissions. Another one, no, denies the run.
const (
	allow   = "yes"
	without = "skip" // go on without the permissions
)

// pause is a task that waits for a person.
type pause struct {
	Session string          `json:"session"`
	Model   string          `json:"model,omitempty"`
	Turns   int             `json:"turns"`
	Usage   *nodetype.Usage `json:"usage,omitempty"`
	Denied  []string        `json:"denied,omitempty"`
	Granted []string        `json:"granted,omitempty"`
	Asks    []ask           `json:"asks"`
	Answers []string        `json:"answers,omitempty"` // to the questions so far
	Text    string          `json:"text"`
	Value   json.RawMessage `json:"value,omitempty"`
	Schemed json.RawMessage `json:"structured,omitempty"`
	// Deferred reports that the tool waits for its answer, so that there is no result yet.
	Deferred bool `json:"deferred,omitempty"`
}

// questionOf returns what a person is to be asked because of a report, or nil.
func questionOf(j *job, r *report) *nodeprogram.Question {
	asks := slices.DeleteFunc(slices.Clone(r.asks), func(a ask) bool { return decided(&j.in, a) })
	if len(asks) == 0 || j.session == "" || inBatch(j) {
		return nil
	}
	p := &pause{
		Session: j.session, Model: j.model, Turns: j.turns, Denied: j.denied, Granted: j.granted, Asks: asks,
		Text: r.text, Value: r.value, Schemed: r.structured, Deferred: r.deferred,
	}
	if j.usageKnown {
		p.Usage = &j.usage
	}
	return p.question(j)
}

// inBatch reports whether the agent works on an item of a batch, which cannot ask.
func inBatch(j *job) bool { return process.Getenv(j.host.Env, "PFLOW_ITEM") != "" }

// decided reports whether the workflow itself denies what an agent was denied, so that no question is needed.
func decided(in *nodetype.Agent, a ask) bool {
	return in.PermissionMode == "dontAsk" || in.ApprovalPolicy == "never" ||
		slices.ContainsFunc(in.DisallowedTools, func(rule string) bool { name, _, _ := strings.Cut(rule, "("); return name == a.Tool })
}

// question returns the next question of a pause.
func (p *pause) question(j *job) *nodeprogram.Question {
	q := &nodeprogram.Question{Choices: []string{allow, without, "no"}}
	if asked, ok := p.next(); ok {
		q.Text, q.Choices, q.AnyAnswer = cmp.Or(asked.Get("question").Str, j.in.Backend+" asks:"), nil, true
		asked.Get("options").ForEach(func(_, option gjson.Result) bool {
			label := option.Get("label").Str
			if label != "" && !slices.Contains(q.Choices, label) {
				q.Choices = append(q.Choices, label)
			}
			if what := option.Get("description").Str; what != "" {
				q.Text += "\n  " + label + ": " + what
			}
			return true
		})
		if asked.Get("multiSelect").Bool() {
			q.Text += "\n(several answers are separated by commas)"
		}
	} else {
		var uses []string
		for _, a := range p.Asks {
			uses = append(uses, a.Tool+" "+fault.Truncate(string(a.Input), maxShownInput))
		}
		q.Text = j.in.Backend + " was denied: " + strings.Join(uses, "; ") + "\nGo on with this permission: " + strings.Join(j.backend.grants(j, p.Asks), ", ") +
			"? (skip goes on without it)"
	}
	q.Text = j.secrets.Text(q.Text)
	raw, err := rawjson.Marshal(p)
	if err != nil {
		return nil
	}
	q.State = raw
	return q
}

// maxShownInput is the most bytes that a question shows of the input of a tool.
const maxShownInput = 2000

// next returns the first question of the agent that has no answer yet.
func (p *pause) next() (asked gjson.Result, ok bool) {
	if p.Asks[0].Tool != askTool {
		return asked, false
	}
	questions := gjson.GetBytes(p.Asks[0].Input, "questions").Array()
	if len(p.Answers) >= len(questions) {
		return asked, false
	}
	return questions[len(p.Answers)], true
}

// restore sets the job to where it was when it asked.
func (j *job) restore(answer *nodeprogram.Answer) (*pause, error) {
	var p pause
	if json.Unmarshal(answer.State, &p) != nil || p.Session == "" || len(p.Asks) == 0 {
		return nil, fault.New(fault.Usage, "The state of the question is not one of an agent").Suggest("Run the node again without the answer")
	}
	j.session, j.model, j.turns, j.denied, j.granted = p.Session, p.Model, p.Turns, p.Denied, p.Granted
	if p.Usage != nil {
		j.usage, j.usageKnown = *p.Usage, true
	}
	return &p, nil
}

// resume goes on with the agent after an answer.
func (j *job) resume(ctx context.Context, p *pause, answer string) (*report, *nodeprogram.Question, error) {
	prompt := ""
	switch _, asks := p.next(); {
	case asks:
		if p.Answers = append(p.Answers, answer); !p.answered() {
			return nil, p.question(j), nil
		}
		if prompt, j.reply = p.reply(); p.Deferred && j.reply != nil {
			prompt = "" // the tool itself gets the answer
		}
	case answer == without && !p.Deferred:
		return &report{text: p.Text, value: p.Value, structured: p.Schemed, session: p.Session}, nil, nil
	case answer == without:
		prompt = "The permission was not granted. Finish the task without it."
	default:
		grants := j.backend.grants(j, p.Asks)
		j.granted = append(j.granted, grants...)
		j.denied = slices.DeleteFunc(j.denied, func(tool string) bool {
			return slices.ContainsFunc(p.Asks, func(a ask) bool { return a.Tool == tool })
		})
		prompt = "A person has granted what was denied: " + strings.Join(grants, ", ") + ". Do it now, and finish the task."
	}
	if f := j.exhausted(); f != nil {
		return nil, nil, j.redacted(f)
	}
	r, err := j.call(ctx, prompt, j.session)
	if j.reply = nil; err != nil {
		return nil, nil, err
	}
	return r, questionOf(j, r), nil
}

// answered reports whether all questions have answers.
func (p *pause) answered() bool {
	_, more := p.next()
	return !more
}

// reply returns the answers as a prompt, and as the input of the tool that asked.
func (p *pause) reply() (prompt string, input json.RawMessage) {
	var lines []string
	answers := map[string]string{}
	for i, asked := range gjson.GetBytes(p.Asks[0].Input, "questions").Array() {
		answers[asked.Get("question").Str] = p.Answers[i]
		lines = append(lines, "Your question: "+asked.Get("question").Str+"\nThe answer: "+p.Answers[i])
	}
	var fields map[string]json.RawMessage
	raw, err := rawjson.Marshal(answers)
	if err != nil || json.Unmarshal(p.Asks[0].Input, &fields) != nil {
		return strings.Join(lines, "\n"), nil
	}
	fields["answers"] = raw
	if input, err = rawjson.Marshal(fields); err != nil {
		return strings.Join(lines, "\n"), nil
	}
	return strings.Join(lines, "\n"), input
}
