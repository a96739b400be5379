package node

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// maxCount is the most repetitions of a text.
const maxCount = 1000

// runEcho returns its parameters as outputs.
func runEcho(_ context.Context, p *Call, t *Task) *Result {
	in, f := decode[nodetype.Echo](p)
	if f != nil {
		return failed(f, nil)
	}
	if in.Count > maxCount {
		return failedWithError(fault.New(fault.Execution, "count must be at most %d, got %d", maxCount, in.Count).Suggest("Give a number from 0 to %d", maxCount))
	}
	text := in.Prefix + in.Message + in.Suffix
	if in.Uppercase {
		text = strings.ToUpper(text)
	}
	out := nodetype.EchoOutputs{
		Echo:     strings.TrimSuffix(strings.Repeat(text+" ", max(0, in.Count)), " "),
		Data:     json.RawMessage("null"),
		Metadata: nodetype.EchoMetadata{OriginalMessage: in.Message, Count: in.Count, Modified: text != in.Message || in.Count != 1},
	}
	if len(in.Data) > 0 {
		out.Data = event.Escape(in.Data)
	}
	if _, f := t.count(len(out.Echo) + len(out.Data)); f != nil {
		return failedWithError(f)
	}
	return succeeded(out)
}
