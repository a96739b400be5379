package veloflux

import (
	"context"
	"net/http"
)

// recordLeftAdvice ends the message for a create that failed but was not rolled back.
const recordLeftAdvice = ". The Manager kept a record with this id: pipelines.delete removes it"

// recordLeft completes the error of a create that failed. The Manager stores a pipeline before it has checked all of it, and
// keeps the record if it then refuses a part such as a sink. So the record is asked for, unless the status shows that the
// Manager has stored nothing (413, 422) or that the record is older (409). A pipeline that can be explained is older too.
func (m *Manager) recordLeft(ctx context.Context, id string, e *Error) *Error {
	status, answered := e.Details["status"].(int)
	switch {
	case e.Details["maybe_created"] == true:
		e.Details["pipeline_id"] = id
		return e
	case !answered || status < http.StatusBadRequest, id == "", status == http.StatusConflict, status == http.StatusRequestEntityTooLarge, status == http.StatusUnprocessableEntity:
		return e
	}
	_, err := m.Pipeline(ctx, id)
	switch {
	case isNotFound(err):
		e.nothingKept()
		return e
	case err != nil:
		return e // it is not known
	}
	if _, err := m.Explain(ctx, id); isNotFound(err) {
		e.Message += recordLeftAdvice
		e.Details["record_left"] = true
	}
	return e
}

// nothingKept sets the code of a create that the Manager refused before it stored the pipeline, for a reason other than the
// SQL.
func (e *Error) nothingKept() {
	if e.Code == CodeManagerHTTP && e.Details["status"] == http.StatusBadRequest {
		e.Code = CodeInvalidParams
	}
}
