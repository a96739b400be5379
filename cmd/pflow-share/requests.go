package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/share"
	"github.com/pflow-suite/pflow/pkg/share/store"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

// reply is the answer to a request: what run prints for the request alone, and its exit status.
type reply struct {
	ID       json.RawMessage `json:"id"`
	Exit     int             `json:"exit"`
	Document any             `json:"document"`
}

// refused is the document of a request whose run was not started.
type refused struct {
	Success bool         `json:"success"`
	Error   *fault.Fault `json:"error"`
}

// answerRequests starts a run for each line of standard input.
func answerRequests(app *cli.App) error {
	service, err := withoutStore(app)
	if err != nil {
		return err
	}
	lease := store.NewLease(service.Home)
	defer lease.Close()
	ctx, cancel := app.WhileRead() // a run whose answer is not read is not admitted
	defer cancel()
	r := &share.Requests{Service: *service, Lease: lease, Answer: func(id json.RawMessage, started share.Started, err error) {
		answer, text := reply{ID: id, Document: started}, started.JobID
		if f := fault.From(err); f != nil {
			answer.Exit, answer.Document, text = statusOf(f), refused{Error: f}, f.Message
		}
		_ = app.Document(&answer, func(w io.Writer) { _, _ = fmt.Fprintf(w, "%s %s\n", id, text) }) // Stdout keeps that its reader has gone
	}}
	return r.Serve(ctx, app.Stdin)
}
