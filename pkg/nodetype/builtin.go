package nodetype

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// builtin maps each built-in type to how it describes itself. Nothing is reflected upon before it is asked for.
var builtin = map[string]func() Type{
	"echo":       describeEcho,
	"http":       describeHTTP,
	"read-file":  describeReadFile,
	"shell":      describeShell,
	"workflow":   describeWorkflow,
	"write-file": describeWriteFile,
}

// Builtin finds a built-in node type.
func Builtin(name string) (Type, bool) {
	f, ok := builtin[name]
	if !ok {
		return Type{}, false
	}
	return f(), true
}

// BuiltinNames lists the built-in node types, sorted.
func BuiltinNames() []string { return slices.Sorted(maps.Keys(builtin)) }

// Shell is the shell node: a command given to sh.
type Shell struct {
	Command      string          `json:"command" required:"" help:"the command, as sh -c takes it; a template in it behaves as the shell variable that holds its value"`
	Stdin        json.RawMessage `json:"stdin" help:"what the command reads: text as it is, any other value as JSON; nothing by default"`
	Cwd          string          `json:"cwd" help:"the working directory, by default the run's"`
	Env          Texts           `json:"env" help:"variables added to the environment"`
	Timeout      Seconds         `json:"timeout" default:"30" help:"seconds until the command and all it started are stopped"`
	IgnoreErrors bool            `json:"ignore_errors" default:"false" help:"go on with action default whatever the exit status"`
	StripNewline bool            `json:"strip_newline" default:"true" help:"drop the newlines at the end of stdout"`
}

// ShellOutputs is what a shell node leaves behind.
type ShellOutputs struct {
	Stdout         Binary `json:"stdout" help:"standard output, base64 when it is not UTF-8"`
	StdoutIsBinary bool   `json:"stdout_is_binary" help:"whether stdout is base64"`
	Stderr         Binary `json:"stderr" help:"standard error, base64 when it is not UTF-8"`
	StderrIsBinary bool   `json:"stderr_is_binary" help:"whether stderr is base64"`
	ExitCode       int    `json:"exit_code" help:"exit status, 128 plus the signal when one ended it, -1 after the timeout"`
	Error          string `json:"error,omitempty" help:"why it failed; absent when it did not"`
}

// JSON is what encoding/json makes of it, without looking through the outputs again, which may be long: they are JSON.
func (o *ShellOutputs) JSON() json.RawMessage {
	out := make([]byte, 0, len(o.Stdout)+len(o.Stderr)+len(o.Error)+128)
	out = append(append(out, `{"stdout":`...), o.Stdout...)
	out = strconv.AppendBool(append(out, `,"stdout_is_binary":`...), o.StdoutIsBinary)
	out = append(append(out, `,"stderr":`...), o.Stderr...)
	out = strconv.AppendBool(append(out, `,"stderr_is_binary":`...), o.StderrIsBinary)
	out = strconv.AppendInt(append(out, `,"exit_code":`...), int64(o.ExitCode), 10)
	if o.Error != "" {
		out = rawjson.AppendQuoted(append(out, `,"error":`...), o.Error)
	}
	return append(out, '}')
}

func describeShell() Type {
	return describe("shell", "Run a shell command and capture what it prints", Shell{}, ShellOutputs{})
}

// HTTP is the http node: one request.
type HTTP struct {
	URL          string                     `json:"url" required:"" help:"where to, http or https"`
	Method       string                     `json:"method" help:"GET by default, POST when there is a body"`
	Body         json.RawMessage            `json:"body" help:"text is sent as it is, any other value as JSON"`
	Headers      Texts                      `json:"headers" help:"request headers"`
	Params       map[string]json.RawMessage `json:"params" help:"query parameters; a list repeats its name"`
	Timeout      Seconds                    `json:"timeout" default:"30" help:"seconds for the whole exchange"`
	AuthToken    string                     `json:"auth_token" help:"sent as Authorization: Bearer …"`
	APIKey       string                     `json:"api_key" help:"sent in the header that api_key_header names; not together with auth_token"`
	APIKeyHeader string                     `json:"api_key_header" default:"\"X-API-Key\"" help:"the header for api_key"`
}

// HTTPOutputs is what an http node leaves behind.
type HTTPOutputs struct {
	Response         json.RawMessage   `json:"response" help:"the body: parsed when it is JSON, base64 when it is not text"`
	ResponseIsBinary bool              `json:"response_is_binary" help:"whether response is base64"`
	StatusCode       int               `json:"status_code" help:"the status, such as 200"`
	ResponseHeaders  map[string]string `json:"response_headers" help:"response headers, names in lower case"`
	ResponseTime     float64           `json:"response_time" help:"seconds the exchange took"`
	Error            string            `json:"error,omitempty" help:"why it failed; absent when it did not"`
}

func describeHTTP() Type {
	return describe("http", "Make an HTTP request; a status outside 200 to 299 is a failure", HTTP{}, HTTPOutputs{})
}

// ReadFile is the read-file node.
type ReadFile struct {
	FilePath string `json:"file_path" required:"" help:"the file, relative to the run's working directory"`
	Encoding string `json:"encoding" default:"\"utf-8\"" help:"utf-8, latin-1 or ascii"`
}

// ReadFileOutputs is what a read-file node leaves behind.
type ReadFileOutputs struct {
	Content         Binary `json:"content" help:"the text as it stands in the file, base64 when it is not text"`
	ContentIsBinary bool   `json:"content_is_binary" help:"whether content is base64"`
	FilePath        string `json:"file_path" help:"the file that was read"`
}

func describeReadFile() Type {
	return describe("read-file", "Read a file", ReadFile{}, ReadFileOutputs{})
}

// WriteFile is the write-file node.
type WriteFile struct {
	FilePath        string          `json:"file_path" required:"" help:"the file, relative to the run's working directory; missing folders are made"`
	Content         json.RawMessage `json:"content" required:"" help:"text is written as it is, any other value as JSON"`
	Encoding        string          `json:"encoding" default:"\"utf-8\"" help:"utf-8, latin-1 or ascii"`
	Append          bool            `json:"append" default:"false" help:"add to the file's end; otherwise the file is replaced in one step"`
	ContentIsBinary bool            `json:"content_is_binary" default:"false" help:"content is base64"`
}

// WriteFileOutputs is what a write-file node leaves behind.
type WriteFileOutputs struct {
	Written  string `json:"written" help:"what was done, in words"`
	FilePath string `json:"file_path" help:"the file that was written"`
}

func describeWriteFile() Type {
	return describe("write-file", "Write a file", WriteFile{}, WriteFileOutputs{})
}

// Echo is the echo node: it gives back what it is given, to try templates with.
type Echo struct {
	Message   string          `json:"message" default:"\"Hello, World!\"" help:"the text"`
	Count     int             `json:"count" default:"1" help:"how often the text is repeated"`
	Data      json.RawMessage `json:"data" help:"any value, given back as it is"`
	Prefix    string          `json:"prefix" help:"put before the text"`
	Suffix    string          `json:"suffix" help:"put behind the text"`
	Uppercase bool            `json:"uppercase" default:"false" help:"in capitals"`
}

// EchoOutputs is what an echo node leaves behind.
type EchoOutputs struct {
	Echo     string          `json:"echo" help:"the text, repeated with a space between"`
	Data     json.RawMessage `json:"data" help:"the value that was given"`
	Metadata EchoMetadata    `json:"metadata" help:"original_message, count, modified"`
}

// EchoMetadata says what an echo node did to its text.
type EchoMetadata struct {
	OriginalMessage string `json:"original_message"`
	Count           int    `json:"count"`
	Modified        bool   `json:"modified"`
}

func describeEcho() Type {
	return describe("echo", "Give back a text and a value", Echo{}, EchoOutputs{})
}

// Workflow is the workflow node: it runs another workflow. Whoever executes runs resolves and runs it.
type Workflow struct {
	Workflow      json.RawMessage            `json:"workflow" help:"which one: the name of a saved workflow or a draft, the path of a file, or a workflow itself"`
	Inputs        map[string]json.RawMessage `json:"inputs" help:"the values of its inputs, by name"`
	WorkflowName  string                     `json:"workflow_name" help:"another word for workflow: a name"`
	WorkflowRef   string                     `json:"workflow_ref" help:"another word for workflow: a path"`
	WorkflowIR    map[string]json.RawMessage `json:"workflow_ir" help:"another word for workflow: the workflow itself"`
	ParamMapping  map[string]json.RawMessage `json:"param_mapping" help:"another word for inputs"`
	OutputMapping map[string]json.RawMessage `json:"output_mapping" help:"other names for its outputs: output of the workflow to output of the node"`
}

func describeWorkflow() Type {
	t := describe("workflow", "Run another workflow; its declared outputs are the node's", Workflow{}, struct{}{})
	t.Open = true
	return t
}
