package suite

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// maxOutput is the most bytes that a command may print or, if its lines are read one by one, that a line may have. A command
// that prints more is ended, so that the server's memory is bounded.
const maxOutput = 64 << 20

// Outcome is what a command left behind. Its output is empty if it went to OnLine or Stdout.
type Outcome struct {
	Output []byte
	Exit   int
	Stderr string
}

// Document returns the output of a command, which must be one JSON document.
func (o *Outcome) Document(program string) (json.RawMessage, *fault.Fault) {
	if json.Valid(o.Output) {
		return o.Output, nil
	}
	f := fault.New(fault.Protocol, "%s printed no JSON (exit status %d)", program, o.Exit)
	if o.Exit == 2 && len(o.Output) == 0 { // what Go ends with for want of memory, too; a refusal has a document
		f = fault.New(fault.Protocol, "%s crashed, so it may have done something before", program).Then(fault.Step{Do: fault.DoList})
	}
	if said := strings.TrimSpace(o.Stderr); said != "" {
		f.Detail("stderr", said)
	}
	return nil, f
}

// collector keeps what is written to it. It calls exceeded instead of keeping more than maxOutput.
type collector struct {
	bytes.Buffer
	exceeded func()
}

// Write implements io.Writer. It never fails.
func (c *collector) Write(p []byte) (int, error) {
	if c.Len()+len(p) > maxOutput {
		c.exceeded()
		return len(p), nil
	}
	return c.Buffer.Write(p)
}

// lineWriter calls onLine with every whole line that is written to it. It calls exceeded instead of keeping more than maxOutput
// of a line.
type lineWriter struct {
	onLine   func(line []byte)
	exceeded func()
	rest     []byte
}

// Write implements io.Writer. It never fails.
func (l *lineWriter) Write(p []byte) (int, error) {
	if len(l.rest)+len(p) > maxOutput {
		l.rest = nil
		l.exceeded()
		return len(p), nil
	}
	l.rest = append(l.rest, p...)
	for {
		i := bytes.IndexByte(l.rest, '\n')
		if i < 0 {
			return len(p), nil
		}
		l.onLine(l.rest[:i])
		l.rest = l.rest[i+1:]
	}
}
