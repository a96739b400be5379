package cli

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// embedded is a part of a document whose type is not exported.
type embedded struct {
	Inner *fault.Fault `json:"inner"`
}

type inText struct{ Text string }

func (i *inText) Address(r fault.Reader) { i.Text = string(r) }

// TestFaultsAnywhereInADocumentAreAddressed has a fault, and another part with text for its reader, in every place where
// encoding/json looks, and JSON that belongs to a user.
func TestFaultsAnywhereInADocumentAreAddressed(t *testing.T) {
	hint := func() *fault.Fault {
		return fault.New(fault.Usage, "m").Then(fault.ByPerson("", "shell"))
	}
	foreign := json.RawMessage(`{"type":"usage_error","message":"m","suggestions":["user"],"next":[{"do":"shell","command":"user"}]}`)
	for _, reader := range []fault.Reader{fault.Shell, fault.Tools} {
		nested := hint()
		nested.Errors = []*fault.Fault{hint()}
		doc := &struct {
			embedded
			List  []struct{ Error *fault.Fault }
			Map   map[string]any
			Value fault.Fault
			Nil   *fault.Fault
			Texts []inText
			User  json.RawMessage
		}{embedded{nested}, []struct{ Error *fault.Fault }{{hint()}}, map[string]any{"a": []any{hint()}}, *hint(), nil, []inText{{"x"}}, foreign}
		app := &App{Reader: reader}
		raw, err := app.addressed(doc)
		if err != nil {
			t.Fatal(err)
		}
		words := `"suggestions":["shell"],"next":[{"do":"shell","command":"shell","person":true}]`
		if reader == fault.Tools {
			words = `"suggestions":["a person runs shell"]`
		}
		one := `{"type":"usage_error","message":"m",` + words + `}`
		want := `{"inner":{"type":"usage_error","message":"m",` + words + `,"errors":[` + one + `]},"List":[{"Error":` + one +
			`}],"Map":{"a":[` + one + `]},"Value":` + one + `,"Nil":null,"Texts":[{"Text":"` + string(reader) + `"}],"User":` + string(foreign) + `}`
		if !reflect.DeepEqual(decoded(t, raw), decoded(t, json.RawMessage(want))) {
			t.Errorf("for %s:\n%s\nwant\n%s", reader, raw, want)
		}
	}
}

func TestFailuresAreShortenedToMaxBytes(t *testing.T) {
	several := func(n, size int) *fault.Fault {
		f := fault.New(fault.Validation, "w: %d errors", n)
		for range n {
			f.Errors = append(f.Errors, fault.New(fault.Validation, "%s", strings.Repeat("m", size)))
		}
		return f
	}
	for _, c := range []struct {
		name       string
		f          *fault.Fault
		most       int
		shown, all int
	}{
		{"no limit", several(61, 1000), 0, 61, 0},
		{"few", several(10, 100), 8192, 10, 0},
		{"many", several(61, 100), 8192, 10, 61},
		{"long", several(9, 1000), 8192, 7, 9},
		{"one long", several(1, 9000), 8192, 1, 0},
	} {
		raw, err := (&App{Reader: fault.Shell, MaxBytes: c.most}).addressed(failure{Error: c.f})
		got := gjson.ParseBytes(raw).Get("error")
		if err != nil || c.most > 0 && len(raw) > c.most || int(got.Get("errors.#").Int()) != c.shown || int(got.Get("errors_total").Int()) != c.all {
			t.Errorf("%s: %d bytes, %d of %d errors: %v", c.name, len(raw), got.Get("errors.#").Int(), got.Get("errors_total").Int(), err)
		}
	}
	list := struct{ Items []failure }{}
	for range 20 {
		list.Items = append(list.Items, failure{Error: several(61, 100)})
	}
	raw, err := (&App{Reader: fault.Shell, MaxBytes: 25000}).addressed(list)
	if err != nil || len(raw) > 25000 || len(raw) < 15000 || strings.Contains(string(raw), `"errors":null`) {
		t.Errorf("a list of failures has %d bytes: %v", len(raw), err)
	}
}

func TestHintsAndBytesOfACommandLineThatCannotBeParsed(t *testing.T) {
	_, stdout, _ := call(t, "--hints=tools", "--format", "json", "nope")
	if got := gjson.Get(stdout, "error"); got.Get("message").Str == "" || got.Get("suggestions").Exists() {
		t.Errorf("a reader with tools is pointed to --help: %s", stdout)
	}
	for _, n := range []string{"-1", "10"} {
		if status, stdout, _ := call(t, "say", "hi", "--format", "json", "--max-bytes="+n); status != 2 || gjson.Get(stdout, "error.type").Str != "usage_error" {
			t.Errorf("--max-bytes %s: %d %s", n, status, stdout)
		}
	}
}

func decoded(t *testing.T, raw json.RawMessage) (v any) {
	t.Helper()
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	return v
}
