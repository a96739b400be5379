package payload

import (
	"bytes"
	"strings"
	"testing"

	commonpb "go.temporal.io/api/common/v1"

	"github.com/pflow-suite/pflow/pkg/fault"
)

var key = strings.Repeat("0f", 32)

func codec(t *testing.T, key string) *Codec {
	t.Helper()
	c, err := ParseKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestParseKeyTakesOnlyHexadecimalDigits(t *testing.T) {
	for _, text := range []string{"", "0f", strings.Repeat("0g", 32), key + "00"} {
		if _, err := ParseKey(text); fault.From(err).Type != fault.Usage || strings.Contains(err.Error(), "0f0f") {
			t.Errorf("%q: %v", text, err)
		}
	}
	codec(t, key+"\n")
}

func TestACodecHidesPayloadsAndTheirMetadata(t *testing.T) {
	c := codec(t, key)
	plain := &commonpb.Payload{Metadata: map[string][]byte{"encoding": []byte("json/plain"), "note": []byte("visible")}, Data: []byte(`"hunter22"`)}
	sealed, err := c.Encode([]*commonpb.Payload{plain, plain})
	if err != nil {
		t.Fatal(err)
	}
	if text := sealed[0].String(); strings.Contains(text, "hunter22") || strings.Contains(text, "visible") {
		t.Errorf("%s can be read", text)
	}
	if bytes.Equal(sealed[0].GetData(), sealed[1].GetData()) {
		t.Error("equal payloads look equal")
	}
	open, err := c.Decode([]*commonpb.Payload{sealed[0], plain})
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range open {
		if string(p.GetData()) != `"hunter22"` || string(p.GetMetadata()["note"]) != "visible" {
			t.Errorf("payload %d became %s", i, p)
		}
	}
	if _, err := codec(t, strings.Repeat("aa", 32)).Decode(sealed); err == nil {
		t.Error("another key decrypts it")
	}
}
