package mcphttp

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
)

// TestEventIDs holds that an id has what it was made of, and that what was not made by encode is no id.
func TestEventIDs(t *testing.T) {
	for _, id := range []eventID{
		{json.RawMessage("1"), nil, "p"},
		{json.RawMessage(`"a\r\nb <&> \u00e9 ü"`), json.RawMessage("42"), "job_a/b/1/2.5"},
		{json.RawMessage(`-7`), json.RawMessage(`""`), "p\r\n\x00"},
	} {
		text := id.encode()
		got, ok := parseEventID(text)
		if !ok || string(got.Request) != string(id.Request) || string(got.Token) != string(id.Token) || got.Place != id.Place {
			t.Errorf("%s: %+v", text, got)
		}
		if strings.ContainsAny(text, "\r\n\x00 =") {
			t.Errorf("%q cannot be a line", text)
		}
	}
	if text := (&eventID{Request: json.RawMessage(`"` + strings.Repeat("x", maxEventID) + `"`), Place: "p"}).encode(); text != "" {
		t.Errorf("an id of %d bytes", len(text))
	}
	good := (&eventID{Request: json.RawMessage("1"), Place: "p"}).encode()
	b64 := base64.RawURLEncoding.EncodeToString
	for name, text := range map[string]string{
		"empty": "", "no base64": "job_x/1", "padded": good + "=", "more": good + "AA", "no JSON": b64([]byte("x")), "a list": b64([]byte("[]")),
		"no place": b64([]byte(`{"request":1,"place":""}`)), "no request": b64([]byte(`{"place":"p"}`)), "null": b64([]byte(`{"request":null,"place":"p"}`)),
		"an object as id": b64([]byte(`{"request":{"a":1},"place":"p"}`)), "an object as token": b64([]byte(`{"request":1,"token":{},"place":"p"}`)),
		"more members": b64([]byte(`{"request":1,"place":"p","tool":"execute"}`)), "spelled otherwise": b64([]byte(`{"request": 1,"place":"p"}`)),
		"two documents": b64([]byte(`{"request":1,"place":"p"}{}`)), "long": b64([]byte(`{"request":1,"place":"` + strings.Repeat("p", maxEventID) + `"}`)),
	} {
		if id, ok := parseEventID(text); ok {
			t.Errorf("%s: %+v", name, id)
		}
	}
}
