package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/mcp/mcpclient"
)

// printRaw prints the tool's own result: structured content as JSON, a text as it is, or the bytes of the only block. Several
// texts are printed as lines, and other blocks beside them are left out with a warning. It prints nothing if the tool failed.
func (r *connector) printRaw(t target, answer *mcpclient.Answer, outputSchema json.RawMessage) error {
	if f := answer.Failure(t.name, t.tool); f != nil {
		return r.Redactor.Fault(f)
	}
	if answer.Structured != nil {
		return r.printValue(answer.Result(outputSchema))
	}
	var others []json.RawMessage
	for _, block := range answer.Content {
		if gjson.GetBytes(block, "type").Str != "text" {
			others = append(others, block)
		}
	}
	switch {
	case len(others) < len(answer.Content) || len(answer.Content) == 0:
		if len(others) > 0 {
			r.app.Warn("%d blocks of the result are not text and are left out; without --raw they are printed too", len(others))
		}
		_, err := fmt.Fprintln(r.app.Stdout, r.Redactor.Text(answer.Text()))
		return err
	case len(others) == 1:
		clean, _ := r.Redactor.JSON(others[0])
		if content, ok := bytesOf(clean); ok {
			_, err := r.app.Stdout.Write(content)
			return err
		}
	}
	return r.printValue(answer.Result(outputSchema))
}

// bytesOf returns the binary content of a block.
func bytesOf(block json.RawMessage) (content []byte, ok bool) {
	binary, ok := mcpclient.BinaryOf(block)
	if !ok {
		return nil, false
	}
	content, err := base64.StdEncoding.DecodeString(binary.Base64)
	return content, err == nil
}

// printValue prints a string as its text, and any other value as a line of JSON.
func (r *connector) printValue(value json.RawMessage) error {
	value, _ = r.Redactor.JSON(value)
	if v := gjson.ParseBytes(value); v.Type == gjson.String {
		_, err := fmt.Fprintln(r.app.Stdout, v.Str)
		return err
	}
	return r.app.JSONLine(value)
}
