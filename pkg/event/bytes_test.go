package event

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
)

// Bytes with a content type become blobs of any length, and keep their type, also if it is that of a value of the stream.
func TestBytesWithAType(t *testing.T) {
	for _, content := range []string{"", "x", strings.Repeat("x", InlineLimit)} {
		for _, mime := range []string{"image/png", MIMEJSON, mimeText, mimeBytes} {
			text := base64.StdEncoding.EncodeToString([]byte(content))
			value, ok := Bytes(text, mime)
			if !ok {
				t.Fatal("not base64")
			}
			blobs := map[string][]byte{}
			put := func(c []byte) (string, error) { blobs[Digest(c)] = bytes.Clone(c); return Digest(c), nil }
			load := func(ref string) ([]byte, error) { return blobs[ref], nil }
			kept, err := Spill(json.RawMessage(`{"a":[`+string(value)+`,"\"$base64\":"]}`), put)
			if err != nil {
				t.Fatal(err)
			}
			var got struct {
				A [2]json.RawMessage `json:"a"`
			}
			if err := json.Unmarshal(kept, &got); err != nil {
				t.Fatal(err)
			}
			ref, ok := ReferenceOf(got.A[0])
			if !ok || !ref.Binary || ref.MIME != mime || ref.Bytes != len(content) || string(blobs[ref.Blob]) != content || ref.Head != "" || ref.JSON() {
				t.Errorf("%s of %d bytes: %s", mime, len(content), kept)
			}
			want := `{"a":["` + text + `","\"$base64\":"]}`
			if plain, err := Plain(kept, load); err != nil || string(plain) != want {
				t.Errorf("%s: %v %.100s", mime, err, plain)
			}
			whole, err := Inline(kept, load)
			if err != nil {
				t.Fatal(err)
			}
			if again, err := Spill(whole, put); err != nil || !bytes.Equal(again, kept) {
				t.Errorf("%s: %v %.100s", mime, err, again)
			}
			short, err := Abridge(kept, 8, load, func(ref Reference) json.RawMessage { return json.RawMessage(`"` + ref.MIME + `"`) })
			if err != nil || len(content) > 100 && !strings.Contains(string(short), mime) {
				t.Errorf("%s: %v %.100s", mime, err, short)
			}
		}
	}
	if value, ok := Bytes("eA\r\n==\n", "a/b"); !ok || !json.Valid(value) {
		t.Errorf("lines of base64: %s", value)
	}
	if value, ok := Bytes("no base64!", "a/b"); ok {
		t.Errorf("%s", value)
	}
}
