package share

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"sync"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home/input"
	"github.com/pflow-suite/pflow/pkg/process/chain"
	"github.com/pflow-suite/pflow/pkg/share/store"
)

const (
	// maxStarts is how many runs are started at the same time.
	maxStarts = 32
	// maxLine is the most bytes of a request: those of the arguments, and what is around them.
	maxLine = input.MaxDocument + 1<<10
)

// Requests starts runs for a program that sends a request on each line of a stream, {"id":ANY,"arguments":OBJECT} with the arguments of
// the tool run_flow. "runs" may have the runs around the call, as chain.Key.
type Requests struct {
	// Service starts the runs. Its Store is not used.
	Service Service
	// Lease opens the database.
	Lease *store.Lease
	// Answer is called with the result of Start for each request, as soon as it is known, from one goroutine at a time.
	Answer func(id json.RawMessage, started Started, err error)
}

// Serve reads requests until the stream or ctx ends, and returns when all that were read are answered. When ctx ends, what has not been
// admitted is not answered.
func (r *Requests) Serve(ctx context.Context, from io.Reader) error {
	var all sync.WaitGroup
	defer all.Wait()
	var answering sync.Mutex
	slots := make(chan struct{}, maxStarts)
	lines := bufio.NewScanner(input.Reader(ctx, from))
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		line := bytes.Clone(lines.Bytes())
		parts := gjson.GetManyBytes(line, "id", "arguments", "runs")
		if !json.Valid(line) || !parts[0].Exists() || !parts[1].IsObject() {
			return fault.New(fault.Usage, `Standard input has a line that is not {"id":…,"arguments":{…}}`)
		}
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			started, err := r.start(ctx, json.RawMessage(parts[1].Raw), parts[2].Str)
			if errors.Is(err, context.Canceled) {
				return
			}
			answering.Lock()
			defer answering.Unlock()
			r.Answer(json.RawMessage(parts[0].Raw), started, err)
		})
	}
	switch err := lines.Err(); {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, bufio.ErrTooLong):
		return fault.New(fault.TooLarge, "Standard input has a line of more than %d bytes", maxLine)
	case err != nil:
		return fault.New(fault.Usage, "Cannot read standard input: %v", fault.Reason(err))
	}
	return nil
}

// start starts one run, inside the runs around the call.
func (r *Requests) start(ctx context.Context, arguments json.RawMessage, around string) (Started, error) {
	request, err := ParseRequest(arguments)
	if err != nil {
		return Started{}, err
	}
	db, release, err := r.Lease.Open(ctx)
	if err != nil {
		return Started{}, Unavailable(err)
	}
	defer release()
	s := r.Service
	s.Store = db
	if around != "" {
		s.Env = append(slices.Clip(s.Env), chain.Variable+"="+around)
	}
	return s.Start(ctx, request)
}
