// Package output turns the outputs of a run into what a caller of a shared workflow receives: short text inline, and links to all else. It
// does no I/O.
package output

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// MaxInline is the most code points of a text that stands inline.
const MaxInline = 2000

// Kind is the kind of an output.
type Kind string

// The kinds of outputs. File is bytes of another content type than those of Image and Audio.
const (
	Text  Kind = "text"
	Code  Kind = "code"
	Image Kind = "image"
	Audio Kind = "audio"
	File  Kind = "file"
)

// The errors of Content.
var (
	ErrBase64 = errors.New("the content is not base64")
	ErrEmpty  = errors.New("the content is empty")
)

// Output is one output of a run.
type Output struct {
	Kind Kind
	MIME string
	// Size is the number of bytes of the content. If the content is not base64, it is what its length suggests.
	Size int

	text string // of text and code; base64 of others that are not in a blob
	blob string // the reference of the bytes, or empty
}

// Of returns the output that a value of the stream is. A text that is the JSON of an image, an audio or a React component becomes that.
func Of(value json.RawMessage, load event.Load) (Output, error) {
	if event.IsBytes(value) {
		return ofBytes(value), nil
	}
	plain, err := event.Plain(value, load)
	if err != nil {
		return Output{}, err
	}
	parsed := gjson.ParseBytes(plain)
	if parsed.Type != gjson.String {
		return ofText(string(rawjson.Compact(plain))), nil
	}
	return ofText(parsed.Str), nil
}

// ofBytes returns the output of bytes with a content type.
func ofBytes(value json.RawMessage) Output {
	if ref, ok := event.ReferenceOf(value); ok {
		return Output{Kind: kindOf(ref.MIME), MIME: mediaType(ref.MIME, "", "application/octet-stream"), Size: ref.Bytes, blob: ref.Blob}
	}
	content, mime := gjson.GetBytes(value, "$base64").Str, gjson.GetBytes(value, "mime").Str
	return Output{Kind: kindOf(mime), MIME: mediaType(mime, "", "application/octet-stream"), Size: decodedSize(content), text: content}
}

func kindOf(mime string) Kind {
	switch {
	case strings.HasPrefix(mime, "image/"):
		return Image
	case strings.HasPrefix(mime, "audio/"):
		return Audio
	}
	return File
}

// ofText returns the output of a text.
func ofText(text string) Output {
	if strings.HasPrefix(strings.TrimSpace(text), "{") && json.Valid([]byte(text)) {
		object := gjson.Parse(text)
		field := func(name string) (string, bool) { v := object.Get(name); return v.Str, v.Type == gjson.String }
		mime, _ := field("mimeType")
		switch kind, _ := field("type"); kind {
		case "image":
			if value, ok := field("value"); ok {
				return Output{Kind: Image, MIME: mediaType(mime, "image/", "image/png"), Size: decodedSize(value), text: value}
			}
		case "buffer":
			if value, ok := field("buffer"); ok {
				return Output{Kind: Audio, MIME: mediaType(mime, "audio/", "audio/webm"), Size: decodedSize(value), text: value}
			}
		case "react":
			if code, ok := field("code"); ok {
				return Output{Kind: Code, MIME: "text/jsx", Size: len(code), text: code}
			}
		}
	}
	return Output{Kind: Text, MIME: "text/plain", Size: len(text), text: text}
}

// mediaType returns a content type if it is one of the given family, in lower case and without parameters, else another one. It keeps
// what a workflow prints from adding headers to an answer.
func mediaType(mime, family, otherwise string) string {
	mime, _, _ = strings.Cut(mime, ";")
	mime = strings.ToLower(strings.TrimSpace(mime))
	major, minor, ok := strings.Cut(mime, "/")
	valid := func(token string) bool {
		return token != "" && len(token) < 100 && strings.Trim(token, "abcdefghijklmnopqrstuvwxyz0123456789.+-_") == ""
	}
	if !ok || !valid(major) || !valid(minor) || !strings.HasPrefix(mime, family) {
		return otherwise
	}
	return mime
}

// decodedSize returns the number of bytes that base64 stands for.
func decodedSize(text string) int {
	n := len(text) / 4 * 3
	if len(text)%4 != 0 {
		return len(text) * 3 / 4
	}
	return n - (len(text) - len(strings.TrimRight(text, "=")))
}

// Content returns the bytes of the output. The error is ErrBase64 or ErrEmpty for an image or an audio that a text only claims to be.
func (o Output) Content(load event.Load) ([]byte, error) {
	switch {
	case o.blob != "":
		return load(o.blob)
	case o.Kind == Text || o.Kind == Code:
		return []byte(o.text), nil
	}
	content, err := base64.StdEncoding.Strict().DecodeString(o.text)
	if err != nil || strings.ContainsAny(o.text, "\r\n") { // the decoder ignores them
		return nil, ErrBase64
	}
	if len(content) == 0 {
		return nil, ErrEmpty
	}
	return content, nil
}

// Inline is an output that is part of the answer.
type Inline struct {
	Type     Kind   `json:"type"`
	Value    string `json:"value"`
	MIMEType string `json:"mimeType,omitempty"`
}

// Link is an output that is fetched separately.
type Link struct {
	Type        string `json:"type"`
	URI         string `json:"uri"`
	Name        string `json:"name"`
	MIMEType    string `json:"mimeType"`
	SizeBytes   int    `json:"size_bytes"`
	Description string `json:"description,omitempty"`
}

// Document returns the output as a caller receives it: an Inline, or a Link below base, which is the address of the outputs of its job.
func (o Output) Document(base, name string) any {
	link := Link{
		Type: "resource_link", URI: base + "/" + url.PathEscape(name), Name: o.FileName(name), MIMEType: o.MIME, SizeBytes: o.Size,
	}
	switch o.Kind {
	case Text, Code:
		n := utf8.RuneCountInString(o.text)
		if n <= MaxInline {
			inline := Inline{Type: o.Kind, Value: o.text}
			if o.Kind == Code {
				inline.MIMEType = o.MIME
			}
			return inline
		}
		link.Description = fmt.Sprintf("%s output (%d chars)", map[Kind]string{Text: "Text", Code: "Code"}[o.Kind], n)
	}
	return link
}

// FileName returns a name for the content of the output with the given name.
func (o Output) FileName(name string) string {
	extension, ok := map[string]string{
		"image/png": "png", "image/jpeg": "jpg", "image/webp": "webp", "image/gif": "gif", "audio/webm": "webm", "audio/mp4": "m4a",
		"audio/mpeg": "mp3", "audio/wav": "wav", "text/jsx": "jsx", "text/plain": "txt",
	}[o.MIME]
	if !ok {
		extension = "bin"
	}
	return name + "." + extension
}
