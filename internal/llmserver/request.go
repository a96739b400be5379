package llmserver

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// Request is a request of a client, in a form that does not depend on the API.
type Request struct {
	// API is Chat, Messages or Responses.
	API string
	// Number counts the requests of the server from 1.
	Number   int
	Path     string
	Header   http.Header
	Body     json.RawMessage
	Model    string
	System   string
	Messages []Message
	// Schema is the JSON Schema of the answer, or nil.
	Schema json.RawMessage
	Tools  []Tool
	// Forced is the name of the tool that the answer must call, or empty.
	Forced string
	Stream bool
	// Usage reports whether a stream must end with the usage (Chat).
	Usage bool
}

// Message is a message of the conversation.
type Message struct {
	// Role is user or assistant. The results of tools are in messages of the user.
	Role string
	Text string
	// Images are the URLs of images, which may be data: URLs.
	Images []string
	// Results are the results of tools.
	Results []string
	// Calls are the names of the tools that the assistant called.
	Calls []string
}

// Tool is a tool that the answer may call.
type Tool struct {
	Name   string
	Schema json.RawMessage
}

// Key returns the API key of the request.
func (r *Request) Key() string {
	if key := r.Header.Get("X-Api-Key"); key != "" {
		return key
	}
	return strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
}

// Prompt returns the texts of the user's messages, without the results of tools.
func (r *Request) Prompt() string {
	var said []string
	for _, m := range r.Messages {
		if m.Role == "user" && m.Text != "" {
			said = append(said, m.Text)
		}
	}
	return strings.Join(said, "\n")
}

// Last returns the text of the user's last message.
func (r *Request) Last() string {
	for _, m := range slices.Backward(r.Messages) {
		if m.Role == "user" && m.Text != "" {
			return m.Text
		}
	}
	return ""
}

// turn returns the number of messages of the assistant.
func (r *Request) turn() int {
	n := 0
	for _, m := range r.Messages {
		if m.Role == "assistant" {
			n++
		}
	}
	return n
}

// tokens returns the number of words of a request, which count as tokens.
func (r *Request) tokens() int {
	n := len(strings.Fields(r.System))
	for _, m := range r.Messages {
		n += len(strings.Fields(m.Text)) + len(m.Images) + len(m.Results)
	}
	return max(1, n)
}

// part is a part of a message's content, in either API.
type part struct {
	Type     string          `json:"type"`
	Text     string          `json:"text"`
	ImageURL json.RawMessage `json:"image_url"` // Chat: {"url"}
	Source   struct {
		Type      string `json:"type"`
		URL       string `json:"url"`
		MediaType string `json:"media_type"`
		Data      string `json:"data"`
	} `json:"source"` // Messages
	Name    string          `json:"name"`    // tool_use
	Content json.RawMessage `json:"content"` // tool_result
}

// content reads the content of a message, which is text or a list of parts.
func (m *Message) content(raw json.RawMessage) error {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	if raw[0] == '"' {
		return json.Unmarshal(raw, &m.Text)
	}
	var parts []part
	if err := json.Unmarshal(raw, &parts); err != nil {
		return err
	}
	for _, p := range parts {
		switch p.Type {
		case "text":
			m.Text = joined(m.Text, p.Text)
		case "image_url":
			var image struct {
				URL string `json:"url"`
			}
			if err := json.Unmarshal(p.ImageURL, &image); err != nil {
				return err
			}
			m.Images = append(m.Images, image.URL)
		case "image":
			url := p.Source.URL
			if p.Source.Type == "base64" {
				url = "data:" + p.Source.MediaType + ";base64," + p.Source.Data
			}
			m.Images = append(m.Images, url)
		case "tool_use":
			m.Calls = append(m.Calls, p.Name)
		case "tool_result":
			var result Message
			if err := result.content(p.Content); err != nil {
				return err
			}
			m.Results = append(m.Results, result.Text)
		}
	}
	return nil
}

func joined(a, b string) string {
	if a == "" {
		return b
	}
	return a + "\n" + b
}
