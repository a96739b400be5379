package veloflux

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// verification is the answer of pipelines.verify.
type verification struct {
	Valid    bool      `json:"valid"`
	Pretty   string    `json:"pretty"`
	Warnings []Warning `json:"warnings"`
}

// verify has the Manager plan a statement. The Manager has no route for that, so verify creates, explains and deletes a
// pipeline with a temporary id. The create and the delete do not end with the caller's context, so that a caller who goes
// away leaves no pipeline behind: the Manager may carry out a request even if it is cut off.
func verify(ctx context.Context, r *Runtime, args arguments) (json.RawMessage, error) {
	type outcome struct {
		plan string
		left error
		err  error
	}
	if ctx.Err() != nil {
		return nil, contextEnded(verifyTool, ctx.Err())
	}
	done := make(chan outcome, 1)
	began := r.temporary.run(func(id string) {
		defer func() { // a panic here must not end the program
			if cause := recover(); cause != nil {
				done <- outcome{err: fmt.Errorf("%s crashed: %v", verifyTool, cause)}
			}
		}()
		steps := context.WithoutCancel(ctx)
		body := args.appendTo([]byte(`{"id":"`+id+`","sinks":[{"type":"nop"}]`), "sql", "options", "sources", "flow_instance_id")
		var o outcome
		_, err := r.manager.CreatePipeline(steps, append(body, '}'))
		if err == nil {
			o.plan, err = r.manager.Explain(ctx, id)
			o.left = r.temporary.remove(steps, id, false)
		} else if e := AsError(err); e.Details["maybe_created"] == true {
			defer func() { _ = r.temporary.remove(steps, id, true) }() // after the answer, since it may take as long again
		} else if _, answered := e.Details["status"]; answered {
			o.left = r.temporary.remove(steps, id, false)
		}
		o.plan, o.err = strings.ReplaceAll(o.plan, id, shownID), unnamed(err, id)
		done <- o
	})
	if !began {
		return nil, &Error{Code: CodeToolFailed, Message: verifyTool + ": the program is ending"}
	}
	var o outcome
	select {
	case o = <-done:
	case <-ctx.Done():
		return nil, contextEnded(verifyTool, ctx.Err())
	}
	r.sweepOnce()
	if o.err != nil {
		return nil, o.err
	}
	v := verification{Valid: true, Pretty: o.plan, Warnings: droppedConstructs(args.text("sql"))}
	if o.left != nil {
		v.Warnings = append(v.Warnings, Warning{Construct: "cleanup", Message: "The temporary pipeline is not deleted yet; this is tried again or left to a sweep: " + o.left.Error()})
	}
	return rawjson.Marshal(v)
}

// shownID replaces the temporary id in the Manager's texts, so that they are the same for each verification.
const shownID = "verify"

// unnamed returns an error without the temporary id and without advice about the temporary pipeline, which is deleted
// anyway.
func unnamed(err error, id string) error {
	if err == nil {
		return nil
	}
	e := *AsError(err)
	e.Message = strings.NewReplacer(id, shownID, maybeCreatedAdvice, "", maybeCreatedAdvice[1:], "", recordLeftAdvice, "").Replace(e.Message)
	e.Details = maps.Clone(e.Details)
	delete(e.Details, "record_left")
	delete(e.Details, "maybe_created")
	if e.wasRetryable { // the next attempt has another id
		e.Details["retryable"] = true
	}
	if response, ok := e.Details["response"].(string); ok {
		e.Details["response"] = strings.ReplaceAll(response, id, shownID)
	}
	return &e
}
