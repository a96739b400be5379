package llmserver

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// Request is what a client asked, in the same form whichever API it came by.
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
	// Schema is the JSON Schema that the answer must fit, when one is given.
	Schema json.RawMessage
	Tools  []Tool
	// Forced is the name of the tool that must be called.
	Forced string
	Stream bool
	// Usage says that a stream must tell the usage at its end (Chat).
	Usage bool
}

// Message is one turn of the conversation.
type Message struct {
	// Role is user or assistant. Results of tools are in messages of the user.
	Role string
	Text string
	// Images are the URLs of pictures, or their bytes as data: URLs.
	Images []string
	// Results are what tools answered.
	Results []string
	// Calls are the names of the tools that the assistant called.
	Calls []string
}

// Tool is a tool that may be called.
type Tool struct {
	Name   string
	Schema json.RawMessage
}

// Key is the API key that came with the request.
func (r *Request) Key() string {
	if key := r.Header.Get("X-Api-Key"); key != "" {
		return key
	}
	return strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
}

// Prompt is the text of all that the user said, without what tools answered.
func (r *Request) Prompt() string {
	var said []string
	for _, m := range r.Messages {
		if m.Role == "user" && m.Text != "" {
			said = append(said, m.Text)
		}
	}
	return strings.Join(said, "\n")
}

// Last is the text that the user said last.
func (r *Request) Last() string {
	for _, m := range slices.Backward(r.Messages) {
		if m.Role == "user" && m.Text != "" {
			return m.Text
		}
	}
	return ""
}

// turn is how many turns the assistant has taken.
func (r *Request) turn() int {
	n := 0
	for _, m := range r.Messages {
		if m.Role == "assistant" {
			n++
		}
	}
	return n
}

// tokens counts a request's words, which stand for its tokens.
func (r *Request) tokens() int {
	n := len(strings.Fields(r.System))
	for _, m := range r.Messages {
		n += len(strings.Fields(m.Text)) + len(m.Images) + len(m.Results)
	}
	return max(1, n)
}

// part is one part of a message's content, of either API.
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

// content reads a message's content, which is text or a list of parts.
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
