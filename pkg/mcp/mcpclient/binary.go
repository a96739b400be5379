package mcpclient

import (
	"encoding/json"
	"mime"

	"github.com/tidwall/gjson"
)

// Binary is the content of an image, of audio, or of an embedded file that is not text.
type Binary struct {
	// Base64 is the content as it stands at the bytes from Start to End of its block, quotes included.
	Base64     string
	Start, End int
	// MIMEType is what the server calls the content, or application/octet-stream.
	MIMEType string
}

// BinaryOf returns the binary content of a block, or of a content of a resource, and whether it has any.
func BinaryOf(block json.RawMessage) (Binary, bool) {
	b := gjson.ParseBytes(block)
	content, kind := "data", "mimeType"
	switch b.Get("type").Str {
	case "image", "audio":
	case "": // a content has no type
		content = "blob"
	case "resource":
		content, kind = "resource.blob", "resource.mimeType"
	default:
		return Binary{}, false
	}
	data := b.Get(content)
	if data.Type != gjson.String || data.Index == 0 {
		return Binary{}, false
	}
	mimeType := b.Get(kind).Str
	if _, _, err := mime.ParseMediaType(mimeType); err != nil {
		mimeType = "application/octet-stream"
	}
	return Binary{Base64: data.Str, Start: data.Index, End: data.Index + len(data.Raw), MIMEType: mimeType}, true
}
