package runner

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"time"

	"github.com/pflow-suite/pflow/pkg/engine"
	"github.com/pflow-suite/pflow/pkg/engine/node"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// Request is a run that is asked for. Everything that it names has been read, so it can cross to another process as JSON.
type Request struct {
	// Name is what the run calls its workflow, "-" for one from standard input.
	Name string `json:"name"`
	// File is the name under which Source is parsed: its ending can say in which form the workflow is written.
	File string `json:"file"`
	// Path is the absolute path of the workflow's file, or empty.
	Path string `json:"path,omitempty"`
	// Saved is set for a saved workflow, and Draft for a draft that was named; both have statistics.
	Saved bool `json:"saved,omitempty"`
	Draft bool `json:"draft,omitempty"`
	// Source is the workflow's file, Folder the one that the paths in it start from, and Files are the files that it refers to.
	Source []byte              `json:"source"`
	Folder string              `json:"folder"`
	Files  []workflow.Included `json:"files,omitempty"`
	// file is Source parsed, or nil in another process than the one that has read it.
	file *workflow.File
	// single is set if LoadNode has made the workflow, so that places in it mean nothing.
	single bool

	Inputs map[string]workflow.Given `json:"inputs,omitempty"`
	// Stdin is the text for the input that takes standard input, or nil if nothing was piped in.
	Stdin *string `json:"stdin,omitempty"`

	// Resume is the id of the run to go on from, Events is the path of a file with a run's events to go on from; both are empty
	// for a new run. A file that was made for the request is removed when it has been opened.
	Resume        string `json:"resume,omitempty"`
	Events        string `json:"events,omitempty"`
	EventsSpooled bool   `json:"events_spooled,omitempty"`
	// Checkpoint is the path of the file to go on from and to append the events to, or empty. It does not cross to another
	// process.
	Checkpoint string `json:"-"`
	// Stored is set if the workflow is the one that the run to go on from has stored. Current is set if it is that of the run as it is
	// now.
	Stored  bool `json:"stored,omitempty"`
	Current bool `json:"current,omitempty"`
	// Once attaches to the run to go on from also after its end, if going on from it would run nothing.
	Once bool `json:"once,omitempty"`
	// Follow attaches to the run to go on from, whose workflow is not needed: it is that of the run.
	Follow bool `json:"follow,omitempty"`
	// Answer answers the open questions of the run to go on from.
	Answer string `json:"answer,omitempty"`
	// By is who gave it, and Person is set if a person did.
	By     string `json:"by,omitempty"`
	Person bool   `json:"person,omitempty"`
	// Named is the run that was named, if Resume is one that has gone on from it.
	Named string `json:"named,omitempty"`
	// Answers answers questions beforehand, by the paths of their nodes.
	Answers map[string]engine.Answer `json:"answers,omitempty"`
	// Proposals are answers that are only checked: a person is asked.
	Proposals map[string]engine.Answer `json:"proposals,omitempty"`

	// Again is what is asked to run again of the run to go on from, or nil.
	Again *event.Again `json:"again,omitempty"`
	// Only is the path of the only node of the workflow to execute, or empty.
	Only string `json:"only,omitempty"`

	// Key is an idempotency key, or empty.
	Key string `json:"key,omitempty"`
	// keyed is set if the key leads to the run to attach to.
	keyed bool

	// Dir is the folder to run in. DirGiven is set if it was asked for, and wins over that of the run to go on from.
	Dir      string `json:"dir"`
	DirGiven bool   `json:"dir_given,omitempty"`
	// Env are variables that are added to the environment.
	Env     []string      `json:"env,omitempty"`
	Jobs    int           `json:"jobs"`
	Timeout time.Duration `json:"timeout,omitempty"`
	// Budget has the fields of the budget that are asked for.
	Budget event.Spending `json:"budget,omitzero"`
	// Runners are the command lines of runners that are given for the run, by their names.
	Runners   map[string]string `json:"runners,omitempty"`
	KeepGoing bool              `json:"keep_going,omitempty"`
	// OnFailure is what happens to running nodes after a failure, or empty: what the workflow says.
	OnFailure string `json:"on_failure,omitempty"`
	// NoCache runs nodes with a cache too. Their outputs are kept for later runs.
	NoCache bool `json:"no_cache,omitempty"`
	// Sync makes every event reach the disk before the run goes on.
	Sync bool `json:"sync,omitempty"`
	// DryRun takes no lock and changes nothing. It does not cross to another process.
	DryRun bool `json:"-"`
}

// source returns where the home has the workflow by its name, as the first event of the run says it.
func (r *Request) source() string {
	switch {
	case r.Saved:
		return event.SourceLibrary
	case r.Draft:
		return event.SourceDraft
	}
	return ""
}

// repeats reports whether the request repeats a run as it was: then one that has succeeded is not run again.
func (r *Request) repeats() bool { return r.Stored && len(r.Inputs) == 0 && r.Again == nil }

// given returns the values for the inputs of the workflow.
func (r *Request) given(w *workflow.Workflow) map[string]workflow.Given {
	values := make(map[string]workflow.Given, len(r.Inputs)+1)
	maps.Copy(values, r.Inputs)
	if r.Stdin != nil {
		for name, in := range w.Inputs {
			if in.Stdin {
				values[name] = workflow.Given{Text: *r.Stdin}
			}
		}
	}
	return values
}

// parse parses the workflow, with the files that it refers to.
func (r *Request) parse() (*workflow.File, error) {
	file, err := workflow.Parse(r.File, r.Source)
	if err != nil {
		return nil, err
	}
	if file.Dir = r.Folder; len(r.Files) == 0 {
		return file, nil
	}
	return file.Include(r.Files)
}

// requestReader reads a request and passes it on without a long text in it, which goes to a file: the parameter node.LongParam of the
// type, if the type precedes the parameters. What follows the request is passed on as it is.
type requestReader struct {
	from io.Reader
	in   []byte
	// out is what has been read and is to be passed on. A text that may become long is held back.
	out, held []byte
	// passed is the memory of out.
	passed []byte

	// depth counts the open objects and lists.
	depth int
	// inString and escaped describe the place in a string; value is set if that is the value of a member, or if one must come next.
	inString, escaped, value bool
	// word has the beginning of the string, key that of the key before it. params is set inside of the parameters.
	word, key []byte
	params    bool
	// param is the name of the parameter that may be long.
	param string
	// taking is set within the parameter's text.
	taking bool
	text   *rawjson.UnquotingWriter
	buffer *bufio.Writer
	file   *os.File
}

const (
	// maxWord is more than the names and types have that matter.
	maxWord = 64
	// longText is the length from which the text is written to a file.
	longText = event.InlineLimit
)

func newRequestReader(from io.Reader) *requestReader {
	return &requestReader{from: from, in: make([]byte, 32<<10)}
}

// Read reads the next part of the request.
func (r *requestReader) Read(p []byte) (int, error) {
	for len(r.out) == 0 {
		r.out = r.passed[:0]
		n, err := r.from.Read(r.in)
		if failed := r.take(r.in[:n]); failed != nil {
			return 0, fault.From(failed)
		}
		if err != nil && len(r.out) == 0 {
			r.out, r.held = append(r.out, r.held...), nil // what is left is no request
			if len(r.out) == 0 {
				return 0, err
			}
		}
		r.passed = r.out
	}
	n := copy(p, r.out)
	r.out = r.out[n:]
	return n, nil
}

// long returns the text that is in a file, or nil if it was short.
func (r *requestReader) long() *node.LongText {
	if r.file == nil {
		return nil
	}
	info, err := r.file.Stat()
	if err != nil {
		return nil
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(io.NewSectionReader(r.file, 0, info.Size())), nil }
	return &node.LongText{Open: open, Public: open}
}

// close drops the text.
func (r *requestReader) close() {
	if r.file != nil {
		_ = r.file.Close()
	}
}

// take reads bytes of the request.
func (r *requestReader) take(b []byte) error {
	for len(b) > 0 {
		n := 1
		switch {
		case !r.inString:
			r.structure(b[0])
		case r.escaped:
			r.escaped = false
		case b[0] == '"':
			if err := r.endString(); err != nil {
				return err
			}
		case b[0] == '\\':
			r.escaped = true
		default:
			if n = bytes.IndexAny(b, "\"\\"); n < 0 {
				n = len(b)
			}
			if room := maxWord - len(r.word); room > 0 {
				r.word = append(r.word, b[:min(n, room)]...)
			}
		}
		if err := r.pass(b[:n]); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// structure reads a byte outside of strings.
func (r *requestReader) structure(c byte) {
	switch c {
	case '"':
		r.inString, r.word = true, r.word[:0]
	case ':':
		r.value, r.key = true, append(r.key[:0], r.word...)
	case '{', '[':
		if r.depth++; r.depth == 2 {
			r.params = c == '{' && string(r.key) == "params"
		}
		r.value = false
	case '}', ']':
		if r.depth--; r.depth < 2 {
			r.params = false
		}
		r.value = false
	case ',':
		r.value = false
	}
}

// endString ends a string, before its closing quote is passed on.
func (r *requestReader) endString() error {
	r.inString = false
	if r.depth == 1 && r.value && string(r.key) == "type" {
		r.param = node.LongParam(string(r.word))
	}
	if !r.taking {
		return nil
	}
	r.taking = false
	if r.text == nil {
		r.out, r.held = append(r.out, r.held...), r.held[:0]
		return nil
	}
	err := errors.Join(r.text.Close(), r.buffer.Flush())
	r.text = nil
	return err
}

// pass passes bytes on, unless they belong to the text that may become long.
func (r *requestReader) pass(b []byte) error {
	if !r.taking {
		r.out = append(r.out, b...)
		r.taking = r.inString && len(r.word) == 0 && r.value && r.params && r.depth == 2 && r.param != "" && string(r.key) == r.param && b[0] == '"' && r.file == nil
		return nil
	}
	if r.text == nil {
		if r.held = append(r.held, b...); len(r.held) <= longText {
			return nil
		}
		var err error
		if r.file, err = scratchFile(); err != nil {
			return err
		}
		r.buffer = bufio.NewWriterSize(r.file, longText)
		r.text = &rawjson.UnquotingWriter{To: r.buffer}
		b, r.held = r.held, nil
	}
	_, err := r.text.Write(b)
	return err
}

// scratchFile returns a file that has no name, so that nothing is left of it.
func scratchFile() (*os.File, error) {
	f, err := os.CreateTemp("", "pflow-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// The causes of an attempt whose sender is gone: it has closed its end of the pipe, or has sent no sign for a long time.
var (
	errSenderGone   = fault.New(fault.Execution, "The run that has sent the attempt is gone")
	errSenderSilent = fault.New(fault.Execution, "The run that has sent the attempt has given no sign for too long: it is gone, or the connection is lost")
)

// senderSilence is the longest time between two signs of a sender during the first minutes of an attempt. Later it is a third of the
// attempt's age: what has worked for long is not given up for a short interruption.
const senderSilence = 45 * time.Second

// watchSender reads what follows a request on its pipe and calls gone when that closes, or when no more signs come from a sender that
// has sent any: what carries the request, such as a scheduler of jobs, may keep the pipe open.
func watchSender(pipe io.Reader, gone context.CancelCauseFunc) {
	var silent *time.Timer
	begun := time.Now()
	for buf := make([]byte, 512); ; {
		n, err := pipe.Read(buf)
		if bytes.IndexByte(buf[:n], node.Sign) >= 0 {
			if silent == nil {
				silent = time.AfterFunc(senderSilence, func() { gone(errSenderSilent) })
				defer silent.Stop()
			}
			silent.Reset(max(senderSilence, time.Since(begun)/3))
		}
		if err != nil {
			gone(errSenderGone)
			return
		}
	}
}
