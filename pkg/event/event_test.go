package event

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

func TestReaderSkipsWhatItDoesNotKnowAndATornLine(t *testing.T) {
	stream := `{"v":1,"seq":1,"event":"run_started","run":"r1","time":"2026-01-02T03:04:05Z","grease":{"a":[1]}}` + "\n" +
		`{"v":1,"seq":2,"event":"node_danced","run":"r1","time":"2026-01-02T03:04:05Z"}` + "\n\n" +
		`{"v":1,"seq":3,"event":"node_completed","run":"r1","time":"2026-01-02T03:04:05Z","node":"a","action":"default"}` + "\n" +
		`{"v":1,"seq":4,"event":"node_comp`
	r := NewReader(strings.NewReader(stream))
	var kinds []string
	for {
		e, _, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, string(e.Event))
	}
	if got := strings.Join(kinds, " "); got != "run_started node_danced node_completed" {
		t.Errorf("read %s", got)
	}
}

func TestReaderRefusesWhatIsNoStream(t *testing.T) {
	for name, stream := range map[string]string{
		"text":          "hello\n",
		"other JSON":    "{\"a\":1}\n",
		"other version": `{"v":2,"event":"run_started"}` + "\n",
		"endless line":  strings.Repeat("x", MaxLine+10) + "\n",
	} {
		_, _, err := NewReader(strings.NewReader(stream)).Next()
		if f := fault.From(err); err == nil || f.Type != fault.Protocol {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Any JSON that a node outputs comes back unchanged, and no part of it is taken for a reference.
func TestValuesComeBack(t *testing.T) {
	key := rapid.OneOf(rapid.SampledFrom([]string{"$blob", "$base64", "$$blob", "a", "$", "", "mime"}), rapid.String())
	rapid.Check(t, func(t *rapid.T) {
		obj := map[string]any{}
		for i, n := 0, rapid.IntRange(0, 4).Draw(t, "n"); i < n; i++ {
			inner := map[string]any{key.Draw(t, "inner key"): rapid.String().Draw(t, "text")}
			obj[key.Draw(t, "key")] = []any{inner, rapid.Int().Draw(t, "number"), nil}
		}
		want, err := json.Marshal(obj)
		if err != nil {
			t.Fatal(err)
		}
		blobs := map[string][]byte{}
		kept, err := Spill(Escape(want), func(c []byte) (string, error) { blobs[Digest(c)] = c; return Digest(c), nil })
		if err != nil {
			t.Fatal(err)
		}
		got, err := Plain(kept, func(ref string) ([]byte, error) { return blobs[ref], nil })
		if err != nil {
			t.Fatal(err)
		}
		if !equalJSON(got, want) {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
	})
}

func TestLongValuesAreSpilled(t *testing.T) {
	long := strings.Repeat("long \"text\"\n", 10_000)
	binary := append([]byte{0xff, 0xfe}, bytes.Repeat([]byte{1}, InlineLimit)...)
	var many []string
	for range 3000 {
		many = append(many, strings.Repeat("m", 50))
	}
	manyJSON, _ := json.Marshal(many)
	raw := json.RawMessage(`{"s":"x","long":` + string(rawjson.Quote(long)) + `,"bin":` + string(String(binary)) + `,"many":` + string(manyJSON) + `}`)
	blobs := map[string][]byte{}
	kept, err := Spill(raw, func(c []byte) (string, error) { blobs[Digest(c)] = bytes.Clone(c); return Digest(c), nil })
	if err != nil {
		t.Fatal(err)
	}
	if len(kept) > InlineLimit || len(blobs) != 3 {
		t.Fatalf("%d bytes left inline, %d blobs", len(kept), len(blobs))
	}
	plain, err := Plain(kept, func(ref string) ([]byte, error) { return blobs[ref], nil })
	if err != nil {
		t.Fatal(err)
	}
	var got struct{ S, Long, Bin string }
	if err := json.Unmarshal(plain, &got); err != nil || got.S != "x" || got.Long != long {
		t.Errorf("came back changed: %v", err)
	}
	if _, err := Plain(kept, func(string) ([]byte, error) { return nil, fault.New(fault.NotFound, "gone") }); err == nil {
		t.Error("a missing blob went unnoticed")
	}
}

func TestLineIsBounded(t *testing.T) {
	e := Event{Event: NodeProgress, Message: strings.Repeat("x", MaxLine)}
	if _, err := e.Line(); fault.From(err).Type != fault.TooLarge {
		t.Errorf("error %v", err)
	}
}

func FuzzReader(f *testing.F) {
	f.Add([]byte(`{"v":1,"event":"x"}` + "\n"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		r := NewReader(bytes.NewReader(stream))
		for {
			if _, _, err := r.Next(); err != nil {
				return
			}
		}
	})
}

func equalJSON(a, b json.RawMessage) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	m, _ := json.Marshal(x)
	n, _ := json.Marshal(y)
	return bytes.Equal(m, n)
}
