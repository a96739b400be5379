package event

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// gone is a store whose blobs are all lost.
func gone(string) ([]byte, error) { return nil, fault.New(fault.NotFound, "gone") }

// An inlined value needs no blobs and equals the original.
func TestInlineStandsAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		obj := map[string]json.RawMessage{}
		for range rapid.IntRange(0, 5).Draw(t, "members") {
			key := rapid.SampledFrom([]string{"a", "b", "$blob", "$$x", "mime", ""}).Draw(t, "key")
			part := rapid.SampledFrom([]string{"x", "é", "\xff", `"\`, "\n"}).Draw(t, "part")
			value := String([]byte(strings.Repeat(part, rapid.SampledFrom([]int{1, 100, InlineLimit}).Draw(t, "times"))))
			switch rapid.SampledFrom([]string{"itself", "list", "many", "forged"}).Draw(t, "form") {
			case "list":
				value = json.RawMessage(`[1e400,` + string(value) + `,null]`)
			case "many":
				value = json.RawMessage(`[` + strings.Repeat(`"word",`, rapid.SampledFrom([]int{1, InlineLimit / 6}).Draw(t, "words")) + string(value) + `]`)
			case "forged":
				value = Escape(json.RawMessage(`{"$blob":"sha256:x","bytes":1,"$base64":"QQ=="}`))
			}
			obj["$"+key] = value // so that no key stands for more than itself
		}
		var raw bytes.Buffer
		raw.WriteByte('{')
		for key, value := range obj {
			if raw.Len() > 1 {
				raw.WriteByte(',')
			}
			name, _ := json.Marshal("$" + key)
			raw.Write(append(append(name, ':'), value...))
		}
		raw.WriteByte('}')
		blobs := map[string][]byte{}
		load := func(ref string) ([]byte, error) { return blobs[ref], nil }
		kept, err := Spill(raw.Bytes(), func(c []byte) (string, error) { blobs[Digest(c)] = bytes.Clone(c); return Digest(c), nil })
		if err != nil {
			t.Fatal(err)
		}
		whole, err := Inline(kept, load)
		if err != nil {
			t.Fatal(err)
		}
		want, err := Plain(kept, load)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Plain(whole, gone); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%v: %.200s, want %.200s", err, got, want)
		}
		if again, err := Inline(whole, gone); err != nil || !bytes.Equal(again, whole) {
			t.Fatalf("inline twice: %v", err)
		}
		if again, err := Spill(whole, func(c []byte) (string, error) { return Digest(c), nil }); err != nil || !bytes.Equal(again, kept) {
			t.Fatalf("kept again: %v: %.200s, was %.200s", err, again, kept)
		}
	})
}

func TestInlineSaysWhatIsMissing(t *testing.T) {
	kept, err := Spill(String(bytes.Repeat([]byte("x"), InlineLimit)), func(c []byte) (string, error) { return Digest(c), nil })
	if err != nil {
		t.Fatal(err)
	}
	if whole, err := Inline(kept, gone); err == nil {
		t.Errorf("%.100s", whole)
	}
}

// Long objects inside long objects come back, and what is no JSON stays a reference.
func TestUnfold(t *testing.T) {
	blobs := map[string][]byte{}
	load := func(ref string) ([]byte, error) { return blobs[ref], nil }
	spill := func(raw string) string {
		kept, err := Spill(json.RawMessage(raw), func(c []byte) (string, error) { blobs[Digest(c)] = bytes.Clone(c); return Digest(c), nil })
		if err != nil {
			t.Fatal(err)
		}
		if ref, ok := ReferenceOf(kept); !ok || !ref.JSON() {
			t.Fatalf("%.100s is kept as %.300s, want a reference to JSON", raw, kept)
		}
		return string(kept)
	}
	words := strings.Repeat(`"word",`, InlineLimit/6)
	inner := spill(`[` + words + `{"$base64":"QQ==","mime":"image/png"},"` + strings.Repeat("x", InlineLimit) + `"]`)
	ref, _ := ReferenceOf(json.RawMessage(inner))
	want := `{"a":[` + words + string(blobs[ref.Blob]) + `]}`
	whole, err := Unfold(json.RawMessage(`{"a":`+spill(`[`+words+inner+`]`)+`}`), load)
	if err != nil || string(whole) != want {
		t.Errorf("unfolded: %v, %d bytes that end with %s, want %d bytes that end with %s", err, len(whole), whole[max(0, len(whole)-300):], len(want), want[len(want)-300:])
	}
	if _, err := Unfold(json.RawMessage(inner), gone); err == nil {
		t.Error("a value whose blob is lost is unfolded without an error")
	}
}
