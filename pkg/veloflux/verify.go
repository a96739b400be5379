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

// outcome is what the steps of a verification found out.
type outcome struct {
	plan     string
	warnings []Warning
	err      error
	// uncertain means that the Manager may still create the pipeline.
	uncertain bool
}

// verify has the Manager plan a statement. The Manager has no route for that, so verify creates, explains and deletes a
// pipeline with a temporary id. The create and the delete do not end with the caller's context, so that a caller who goes
// away leaves no pipeline behind: the Manager may carry out a request even if it is cut off.
func verify(ctx context.Context, r *Runtime, args arguments) (json.RawMessage, error) {
	if ctx.Err() != nil {
		return nil, contextEnded(verifyTool, ctx.Err())
	}
	definition := string(args.appendTo([]byte(`"sinks":[{"type":"nop"}]`), "sql", "options", "sources", "flow_instance_id"))
	if _, err := checkDefinition(json.RawMessage("{" + definition + "}")); err != nil {
		return nil, err
	}
	done := make(chan outcome, 1)
	began := r.temporary.run(func(id string) {
		defer func() { // a panic here must not end the program
			if cause := recover(); cause != nil {
				done <- outcome{err: fmt.Errorf("%s crashed: %v", verifyTool, cause)}
			}
		}()
		o := r.plan(ctx, id, json.RawMessage(`{"id":"`+id+`",`+definition+"}"))
		done <- o
		if o.uncertain { // after the answer, since it may take as long again
			_, _ = r.temporary.remove(context.WithoutCancel(ctx), id, true)
		}
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
	return rawjson.Marshal(verification{Valid: true, Pretty: o.plan, Warnings: append(warningsFor(args.text("sql"), o.plan), o.warnings...)})
}

// plan creates, explains and deletes a pipeline.
func (r *Runtime) plan(ctx context.Context, id string, body json.RawMessage) (o outcome) {
	steps := context.WithoutCancel(ctx)
	_, err := r.manager.create(steps, id, body)
	var left error
	if err == nil {
		o.plan, err = r.manager.Explain(ctx, id)
		_, left = r.temporary.remove(steps, id, false)
		o.plan = strings.ReplaceAll(o.plan, id, shownID)
	} else {
		e := AsError(err)
		_, answered := e.Details["status"]
		if o.uncertain = e.Details["maybe_created"] == true; !o.uncertain && answered {
			var found bool
			if found, left = r.temporary.remove(steps, id, false); !found && left == nil {
				e.nothingKept()
			}
		}
	}
	if err != nil {
		e := unnamed(AsError(err), id)
		if !e.closed || o.uncertain {
			o.err = e
			return o
		}
		o.warnings = append(o.warnings, Warning{Construct: "plan", Message: "The SQL is valid, but its plan cannot be shown: the Manager closed the connection when it was asked for it, " +
			"as it does for a plan with a long line of characters beyond ASCII."})
	}
	if left != nil {
		o.warnings = append(o.warnings, Warning{Construct: "cleanup", Message: "The temporary pipeline is not deleted yet; this is tried again or left to a sweep: " + left.Error()})
	}
	return o
}

// shownID replaces the temporary id in the Manager's texts, so that they are the same for each verification.
const shownID = "verify"

// unnamed returns an error without the temporary id and without advice about the temporary pipeline, which is deleted
// anyway. It names the pipeline only if the Manager may still create it.
func unnamed(err *Error, id string) *Error {
	e := *err
	e.Message = strings.NewReplacer(id, shownID, maybeCreatedAdvice, "", maybeCreatedAdvice[1:], "").Replace(e.Message)
	e.Details = maps.Clone(e.Details)
	if e.Details["maybe_created"] == true {
		e.Message += fmt.Sprintf(". The Manager may still create the temporary pipeline %s: it is looked for, and deleted, for %g seconds", id, lookFor.Seconds())
		e.Details["temporary_pipeline"] = id
		delete(e.Details, "maybe_created")
	}
	if e.wasRetryable { // the next attempt has another id
		e.Details["retryable"] = true
	}
	if response, ok := e.Details["response"].(string); ok {
		e.Details["response"] = strings.ReplaceAll(response, id, shownID)
	}
	return &e
}
