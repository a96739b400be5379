package jq

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// values are the values that a filter works on, one after the other. Those of a text are read when they are asked for.
type values struct {
	next func() (any, error)
	// number counts the values that were given.
	number int
	// text says that the input is taken as text, why what it is instead of the JSON that it looks like.
	text bool
	why  error
}

// Next gives the next value, or an error.
func (v *values) Next() (any, bool) {
	value, err := v.next()
	switch {
	case errors.Is(err, io.EOF):
		return nil, false
	case err != nil:
		v.next = func() (any, error) { return nil, io.EOF }
		return err, true
	}
	v.number++
	return value, true
}

// fault is that of an input that cannot be read to its end.
func (v *values) fault(err error) error {
	return fault.New(fault.Execution, "The input is JSON up to its value %d, and then no more: %v", v.number, err).
		Suggest(`Correct what gives the input, or set "raw_input": true to take it as one text`)
}

// inputValues are the values of a node's input. Text that holds JSON values is those: without any there is none. A text
// of which the first part is an object or a list is meant to be JSON, and must be so to its end.
func inputValues(in *nodetype.JQ) (*values, error) {
	raw := bytes.TrimSpace(in.Input)
	if len(raw) == 0 {
		return single(nil), nil
	}
	if raw[0] != '"' {
		return valuesOf(raw, in.Slurp)
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return nil, fault.New(fault.Execution, "The input cannot be read: %v", err)
	}
	if in.RawInput {
		return single(text), nil
	}
	document := strings.TrimPrefix(text, "\ufeff") // a byte order mark
	err := readable(document)
	if err != nil {
		v := single(text)
		if v.text = true; strings.HasPrefix(strings.TrimSpace(document), "{") {
			v.why = err
		}
		return v, nil
	}
	return valuesOf([]byte(document), in.Slurp)
}

func single(value any) *values {
	done := false
	return &values{next: func() (any, error) {
		if done {
			return nil, io.EOF
		}
		done = true
		return value, nil
	}}
}

// readable says why a text is not taken as JSON.
func readable(text string) error {
	dec := json.NewDecoder(strings.NewReader(text))
	for {
		var raw json.RawMessage
		err := dec.Decode(&raw)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return onLine(text, err)
		}
		if raw[0] == '{' || raw[0] == '[' {
			return nil
		}
	}
}

// valuesOf reads JSON values, or the list of them.
func valuesOf(document []byte, slurp bool) (*values, error) {
	dec := json.NewDecoder(bytes.NewReader(document))
	dec.UseNumber()
	v := &values{next: func() (value any, err error) {
		if err = dec.Decode(&value); err != nil && !errors.Is(err, io.EOF) {
			err = onLine(string(document), err)
		}
		return value, err
	}}
	if !slurp {
		return v, nil
	}
	list := []any{}
	for {
		value, more := v.Next()
		if err, wrong := value.(error); more && wrong {
			return nil, v.fault(err)
		}
		if !more {
			return single(list), nil
		}
		list = append(list, value)
	}
}

// decoded is a JSON value as gojq takes it. Numbers keep their digits.
func decoded(raw json.RawMessage) (value any, err error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	err = dec.Decode(&value)
	return value, err
}

// onLine says on which line of a text its JSON is wrong.
func onLine(text string, err error) error {
	if wrong, ok := errors.AsType[*json.SyntaxError](err); ok {
		at := min(max(int(wrong.Offset)-1, 0), len(text))
		return fmt.Errorf("%w, on line %d", err, strings.Count(text[:at], "\n")+1)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("it ends in the middle of a value")
	}
	return err
}
