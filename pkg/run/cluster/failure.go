package cluster

import (
	"encoding/json"
	"errors"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// failures returns the converter of errors. With encrypted, it encrypts messages too.
func failures(data converter.DataConverter, encrypted bool) converter.FailureConverter {
	return temporal.NewDefaultFailureConverter(temporal.DefaultFailureConverterOptions{DataConverter: data, EncodeCommonAttributes: encrypted})
}

// faultType is the type of an application error whose detail is a fault.
const faultType = "pflow-fault"

// permanent returns the error of an activity or a workflow that failed with a fault and is not tried again.
func permanent(err error) error {
	f := fault.From(err)
	return temporal.NewNonRetryableApplicationError(f.Message, faultType, nil, f)
}

// faultOf returns the fault of an error from the cluster. what names what was asked for.
func faultOf(err error, what string) *fault.Fault {
	if f, ok := errors.AsType[*fault.Fault](err); ok {
		return f
	}
	if app, ok := errors.AsType[*temporal.ApplicationError](err); ok && app.Type() == faultType {
		var raw json.RawMessage
		var f fault.Fault
		if app.Details(&raw) == nil && json.Unmarshal(raw, &f) == nil && f.Message != "" {
			return &f
		}
	}
	if timeout, ok := errors.AsType[*temporal.TimeoutError](err); ok {
		return fault.New(fault.Unavailable, "The worker that executed %s was lost (%s)", what, timeout.TimeoutType())
	}
	if _, ok := errors.AsType[*serviceerror.NotFound](err); ok {
		return fault.New(fault.NotFound, "The cluster has no %s", what).Then(fault.Step{Do: fault.DoList})
	}
	if _, ok := errors.AsType[*serviceerror.PermissionDenied](err); ok {
		return fault.New(fault.Usage, "The cluster refuses %s: %v", what, err).Suggest("See TEMPORAL_API_KEY and TEMPORAL_NAMESPACE")
	}
	if unreachable(err) {
		return fault.New(fault.Unavailable, "The cluster cannot be reached: %v", err)
	}
	return fault.New(fault.Unavailable, "The cluster failed at %s: %v", what, err)
}
