package event

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"

	"github.com/tidwall/gjson"
)

// InlineLimit is the most bytes of a string, or of a node's outputs together, in a line.
const InlineLimit = 64 << 10

// Put stores content and returns its reference, sha256:….
type Put func(content []byte) (ref string, err error)

// Spill stores what is too long for a line as blobs: every string over InlineLimit, and then the whole value if it still is
// longer.
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
	keep(raw, MIMEJSON, &whole)
	return whole, failed
}

// Head returns the first 200 characters of a text.
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

// Digest returns the reference of content: sha256: and its hash in hexadecimal.
func Digest(content []byte) string {
	sum := sha256.Sum256(content)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// headBytes is the most bytes of the head of a text.
const headBytes = 4 * 201

func reference(ref string, content []byte, mime string) json.RawMessage {
	return referenceTo(ref, content, len(content), mime).Value()
}

// referenceTo returns a reference to content of size bytes with the given beginning.
func referenceTo(ref string, beginning []byte, size int, mime string) Reference {
	head := ""
	if mime != mimeBytes {
		head = Head(string(beginning[:min(len(beginning), headBytes)]))
	}
	return Reference{Blob: ref, Bytes: size, MIME: mime, Head: head}
}
