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

// values is an iterator over the input values of a filter. Values in a text are parsed when they are needed.
type values struct {
	next func() (any, error)
	// number counts the values that Next has returned.
	number int
	// text reports whether the input is a text that is not JSON. If it looks like JSON, notJSON says why it is not.
	text    bool
	notJSON error
}

// Next returns the next value, or an error as the value, and whether there is one.
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

// fault returns the fault for an input that cannot be parsed to its end.
func (v *values) fault(err error) error {
	return fault.New(fault.Execution, "The input is not JSON after value %d: %v", v.number, err).
		Suggest(`Correct the source of the input, or set "raw_input": true to use it as one text`)
}

// inputValues returns the values of a node's input. Text that holds JSON values stands for those, and empty text for no value. A
// text that begins with a JSON object or list must be JSON to its end.
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
	err := checkJSON(document)
	if err != nil {
		v := single(text)
		if v.text = true; strings.HasPrefix(strings.TrimSpace(document), "{") {
			v.notJSON = err
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

// checkJSON returns why a text is not JSON. It stops at the first object or list.
func checkJSON(text string) error {
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

// valuesOf returns the values of a document, or one list of all if slurp is true.
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

// decoded returns a JSON value in the form that gojq needs. Numbers keep their digits.
func decoded(raw json.RawMessage) (value any, err error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	err = dec.Decode(&value)
	return value, err
}

// onLine adds the line in a text to a syntax error.
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
