package nodetype

import "encoding/json"

// Echo is the echo node, which returns its parameters. It is for trying templates.
type Echo struct {
	Message   string          `json:"message" default:"\"Hello, World!\"" help:"the text"`
	Count     int             `json:"count" default:"1" help:"how many times to repeat the text, at most 1000"`
	Data      json.RawMessage `json:"data" help:"any value; it is returned unchanged"`
	Prefix    string          `json:"prefix" help:"text to put before the message"`
	Suffix    string          `json:"suffix" help:"text to put after the message"`
	Uppercase bool            `json:"uppercase" default:"false" help:"convert the text to upper case"`
}

// EchoOutputs are the outputs of an echo node.
type EchoOutputs struct {
	Echo     string          `json:"echo" help:"the text, repeated and separated by spaces"`
	Data     json.RawMessage `json:"data" help:"the value of data, unchanged"`
	Metadata EchoMetadata    `json:"metadata" help:"original_message, count, modified"`
	Error    string          `json:"error,omitempty" help:"why the node failed; absent if it did not"`
}

// EchoMetadata reports what an echo node did to its text.
type EchoMetadata struct {
	OriginalMessage string `json:"original_message"`
	Count           int    `json:"count"`
	Modified        bool   `json:"modified"`
}

func describeEcho() Type {
	t := describe("echo", "Return a text and a value, to try templates", Echo{}, EchoOutputs{})
	t.DependsOn = OnValues
	return t
}
