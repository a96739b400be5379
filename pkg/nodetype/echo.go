package nodetype

import "encoding/json"

// Echo is the echo node: it gives back what it is given, to try templates with.
type Echo struct {
	Message   string          `json:"message" default:"\"Hello, World!\"" help:"the text"`
	Count     int             `json:"count" default:"1" help:"how often the text is repeated, up to 1000 times"`
	Data      json.RawMessage `json:"data" help:"any value, given back as it is"`
	Prefix    string          `json:"prefix" help:"put before the text"`
	Suffix    string          `json:"suffix" help:"put behind the text"`
	Uppercase bool            `json:"uppercase" default:"false" help:"in capitals"`
}

// EchoOutputs is what an echo node leaves behind.
type EchoOutputs struct {
	Echo     string          `json:"echo" help:"the text, repeated with a space between"`
	Data     json.RawMessage `json:"data" help:"the value that was given"`
	Metadata EchoMetadata    `json:"metadata" help:"original_message, count, modified"`
	Error    string          `json:"error,omitempty" help:"why it failed; absent when it did not"`
}

// EchoMetadata says what an echo node did to its text.
type EchoMetadata struct {
	OriginalMessage string `json:"original_message"`
	Count           int    `json:"count"`
	Modified        bool   `json:"modified"`
}

func describeEcho() Type {
	return describe("echo", "Give back a text and a value", Echo{}, EchoOutputs{})
}
