package event

import (
	"bytes"
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

// Spill stores as blobs the bytes that have a content type, and what is too long for a line: every string over InlineLimit, and
// then the whole value if it still is longer.
func Spill(raw json.RawMessage, put Put) (json.RawMessage, error) {
	if len(raw) <= InlineLimit && !mayHoldBytes(raw) {
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
		if len(v.Raw) <= InlineLimit && (v.Type != gjson.JSON || !mayHoldBytes([]byte(v.Raw))) {
			*out = append(*out, v.Raw...)
			return true
		}
		if b := gjson.Get(v.Raw, "$base64"); v.IsObject() && b.Exists() {
			content, err := base64.StdEncoding.DecodeString(b.Str)
			mime := gjson.Get(v.Raw, "mime").Str
			switch {
			case err == nil && mime != "":
				ref, err := put(content)
				if err != nil {
					failed = err
				}
				*out = append(*out, Reference{Blob: ref, Bytes: len(content), MIME: mime, Binary: true}.Value()...)
				return true
			case err == nil && len(v.Raw) > InlineLimit:
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

// mayHoldBytes reports whether a value may contain bytes. In a string, the quotes of the key would be escaped.
func mayHoldBytes(raw json.RawMessage) bool { return bytes.Contains(raw, []byte(`"$base64":`)) }

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
