package node

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/process"
	"github.com/pflow-suite/pflow/pkg/process/environ"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow/shell"
)

// RequestVersion is the version of the protocol of node programs.
const RequestVersion = 1

// Request is an attempt at a node as one document: what a runner sends to pflow-exec node. It is a request of the protocol of
// node programs, with all that such a program knows from its name, its environment and its working directory.
type Request struct {
	V      int             `json:"v"`
	Type   string          `json:"type"`
	Params json.RawMessage `json:"params"`
	// Command is the command of a shell node, if templates have been resolved in it.
	Command *ShellCommand `json:"command,omitempty"`
	// Code locates the code of a code node.
	Code *CodeLines `json:"code,omitempty"`
	Node string     `json:"node,omitempty"`
	Key  string     `json:"node_key,omitempty"`
	// TimeoutMS is the longest that the attempt may take, or 0.
	TimeoutMS int64 `json:"timeout_ms,omitempty"`
	// StreamLimit is the most bytes that a process of the node may write on one stream, or 0.
	StreamLimit int64             `json:"stream_limit,omitempty"`
	Env         map[string]string `json:"env,omitempty"`
	// Marks name the variables in Env that only this attempt's processes have.
	Marks  []string        `json:"marks,omitempty"`
	Cwd    string          `json:"cwd,omitempty"`
	Answer *string         `json:"answer,omitempty"`
	State  json.RawMessage `json:"state,omitempty"`
	// Held is set if the sender keeps its end of the pipe open: when that closes, the attempt must end.
	Held bool `json:"held,omitempty"`
	// LongValues is set if the sender takes long values in lines of their own, before the reply.
	LongValues bool `json:"long_values,omitempty"`
	// Long is the text of the parameter LongParam of the type, if its reader did not hold it in memory.
	Long *LongText `json:"-"`
	// Secret is set if the document has a secret, so that a runner which keeps it encrypts it.
	Secret bool `json:"secret,omitempty"`
}

// requestBegin is how every request begins, and no line of a reply.
var requestBegin = []byte(`{"v":1,"type":`)

// ShellCommand is a rendered command with its values apart, so that they cannot become code.
type ShellCommand struct {
	Text string `json:"text"`
	Bash bool   `json:"bash,omitempty"`
	// Variables are NAME=VALUE.
	Variables []string `json:"variables,omitempty"`
	// Whole is the template that the command consists of, or empty.
	Whole string `json:"whole,omitempty"`
	// AsksStatus makes every exit status other than 0 a failure.
	AsksStatus bool `json:"asks_status,omitempty"`
}

// request returns the attempt as a document, which must be closed.
func (p *Call) request(t *Task) (io.ReadCloser, error) {
	r := Request{
		V: RequestVersion, Type: p.kind.Name, Params: p.Params, Node: t.Node, Key: t.Key, TimeoutMS: t.Timeout.Milliseconds(), StreamLimit: t.StreamLimit,
		Cwd: t.Dir, Env: map[string]string{}, Held: true, LongValues: true, Code: p.codeLines(t),
	}
	for _, kv := range t.Env {
		name, value, _ := strings.Cut(kv, "=")
		r.Env[name] = value
	}
	for _, kv := range t.Marks {
		name, _, _ := strings.Cut(kv, "=")
		r.Marks = append(r.Marks, name)
	}
	if p.script != nil {
		r.Command = &ShellCommand{Text: p.command, Bash: p.script.Bash, Variables: p.values, Whole: p.whole, AsksStatus: p.asksStatus}
	}
	if t.Answer != nil {
		r.Answer, r.State = &t.Answer.Text, t.Answer.State
	}
	raw, err := rawjson.Marshal(&r)
	if err == nil && (p.long != nil && p.long.Secret || t.Secret != nil && t.Secret(raw)) {
		r.Secret = true
		raw, err = rawjson.Marshal(&r)
	}
	if err != nil || p.long == nil {
		return io.NopCloser(bytes.NewReader(append(raw, '\n'))), err
	}
	at := bytes.Index(raw, p.Params)
	if at < 0 {
		return nil, fault.New(fault.Internal, "the parameters are written differently")
	}
	text, err := p.long.Open()
	if err != nil {
		return nil, err
	}
	before, after, _ := p.Long(p.Params)
	parts := io.MultiReader(bytes.NewReader(raw[:at+len(before)]), rawjson.QuotingReader(text), bytes.NewReader(after),
		bytes.NewReader(raw[at+len(p.Params):]), strings.NewReader("\n"))
	return struct {
		io.Reader
		io.Closer
	}{parts, text}, nil
}

// Call returns the call that a request is about. kind is its node type.
func (r *Request) Call(kind nodetype.Type) *Call {
	p := &Call{kind: kind, Params: r.Params, long: r.Long}
	if kind.Name != "shell" {
		return p
	}
	c := r.Command
	if c == nil {
		c = &ShellCommand{Text: gjson.GetBytes(r.Params, "command").String()}
	}
	p.script, p.command, p.values, p.whole, p.asksStatus = &shell.Script{Command: c.Text, Bash: c.Bash}, c.Text, c.Variables, c.Whole, c.AsksStatus
	return p
}

// Task returns the task of a request on this machine. kind is its node type, env the environment of this program: what describes the
// machine, such as PATH, wins over that of the request, and nothing else of it reaches the node.
func (r *Request) Task(kind nodetype.Type, env []string) *Task {
	own := environ.OfMachine(env)
	t := &Task{
		Host: Host{Dir: r.Cwd, Env: own}, Node: r.Node, Key: r.Key, Timeout: time.Duration(r.TimeoutMS) * time.Millisecond, StreamLimit: r.StreamLimit,
	}
	for _, name := range slices.Sorted(maps.Keys(r.Env)) {
		if _, set := process.LookupEnv(own, name); !set {
			t.Env = append(t.Env, name+"="+r.Env[name])
		}
	}
	for _, name := range r.Marks {
		if value, ok := r.Env[name]; ok {
			t.Marks = append(t.Marks, name+"="+value)
		}
	}
	t.Place = r.Code.place(kind, gjson.GetBytes(r.Params, "code").Str)
	if r.Answer != nil {
		t.Answer = &Answer{Text: *r.Answer, State: r.State}
	}
	return t
}

// Reply is how an attempt ended, as the document that pflow-exec node prints for a runner.
type Reply struct {
	Action string `json:"$action"`
	// Outputs are an object of the event stream. Its references are to long values that have come before, by their ids.
	Outputs json.RawMessage `json:"$outputs"`
	Fault   *fault.Fault    `json:"$fault,omitempty"`
	Note    string          `json:"$note,omitempty"`
	// Warnings say what may be wrong about a success.
	Warnings []string  `json:"$warnings,omitempty"`
	Ask      *Question `json:"$question,omitempty"`
}

// ReplyOf returns the reply of a result.
func ReplyOf(r *Result) *Reply {
	reply := &Reply{Action: r.Action, Outputs: r.Outputs, Fault: r.Fault, Note: r.Note, Warnings: r.Warnings, Ask: r.Ask}
	if r.StoreErr != nil {
		reply.Action, reply.Fault = "error", fault.From(r.StoreErr)
	}
	return reply
}

func (r *Reply) result() *Result {
	return &Result{Action: r.Action, Outputs: r.Outputs, Fault: r.Fault, Note: r.Note, Warnings: r.Warnings, Ask: r.Ask}
}
