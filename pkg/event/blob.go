package event

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"

	"github.com/tidwall/gjson"
)

// InlineLimit is the most bytes that a string, or a node's outputs together, take inside a line.
const InlineLimit = 64 << 10

// Put keeps content and gives its reference, sha256:….
type Put func(content []byte) (ref string, err error)

// Spill puts what is too long for a line into blobs: every string over InlineLimit, and the whole value when it still
// is longer than that.
func Spill(raw json.RawMessage, put Put) (json.RawMessage, error) {
	if len(raw) <= InlineLimit {
		return raw, nil
	}
	var failed error
	keep := func(content []byte, mime string, out *[]byte) {
		ref, err := put(content)
		if err != nil {
			failed = err
		}
		*out = append(*out, reference(ref, content, mime)...)
	}
	raw = rewrite(raw, func(v gjson.Result, out *[]byte) bool {
		if len(v.Raw) <= InlineLimit {
			*out = append(*out, v.Raw...)
			return true
		}
		if b := gjson.Get(v.Raw, "$base64"); v.IsObject() && b.Exists() {
			if content, err := base64.StdEncoding.DecodeString(b.Str); err == nil {
				keep(content, mimeBytes, out)
				return true
			}
		}
		if v.Type == gjson.String {
			keep([]byte(v.Str), mimeText, out)
			return true
		}
		return false
	}, unchanged)
	if failed != nil || len(raw) <= InlineLimit {
		return raw, failed
	}
	var whole []byte
	keep(raw, mimeJSON, &whole)
	return whole, failed
}

// Head is the first 200 characters of a text.
func Head(text string) string {
	n := 0
	for i := range text {
		if n == 200 {
			return text[:i]
		}
		n++
	}
	return text
}

// Digest is the name of content as a blob: sha256: and the hash in hexadecimal.
func Digest(content []byte) string {
	sum := sha256.Sum256(content)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// headBytes is enough of a text for its head.
const headBytes = 4 * 201

func reference(ref string, content []byte, mime string) json.RawMessage {
	return refer(ref, content, len(content), mime)
}

// refer is a reference to content of so many bytes that begins like this.
func refer(ref string, beginning []byte, size int, mime string) json.RawMessage {
	head := ""
	if mime != mimeBytes {
		head = Head(string(beginning[:min(len(beginning), headBytes)]))
	}
	return Reference{Blob: ref, Bytes: size, MIME: mime, Head: head}.Value()
}
