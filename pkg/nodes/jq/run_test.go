package jq

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// given decodes parameters, with the type's defaults for the others.
func given(t *testing.T, params string) nodetype.JQ {
	t.Helper()
	kind, _ := nodetype.Builtin("jq")
	var in nodetype.JQ
	if err := errors.Join(json.Unmarshal(kind.Defaults(), &in), json.Unmarshal([]byte(params), &in)); err != nil {
		t.Fatalf("%s: %v", params, err)
	}
	return in
}

func TestRun(t *testing.T) {
	for name, c := range map[string]struct{ params, want string }{
		"no input":                    {`{"filter":"{a: 1}"}`, `[{"a":1}]`},
		"an object, its keys sorted":  {`{"filter":".","input":{"b": 1.10, "a": "x"}}`, `[{"a":"x","b":1.10}]`},
		"digits are kept":             {`{"filter":".[]","input":[12345678901234567890, 1.10, 1e1000, -0]}`, `[12345678901234567890,1.10,1e1000,-0]`},
		"large integers are added":    {`{"filter":".+1","input":12345678901234567890}`, `[12345678901234567891]`},
		"text that holds JSON":        {`{"filter":".a","input":"{\"a\": [1]}"}`, `[[1]]`},
		"text after a mark":           {`{"filter":".[0]","input":"\ufeff[1]"}`, `[1]`},
		"text that does not":          {`{"filter":"length","input":"hello"}`, `[5]`},
		"text with a number in front": {`{"filter":"length","input":"42 apples"}`, `[9]`},
		"text in brackets":            {`{"filter":"length","input":"[INFO] x"}`, `[8]`},
		"text as it is":               {`{"filter":"length","input":"[1, 2]","raw_input":true}`, `[6]`},
		"one value after the other":   {`{"filter":".n","input":"{\"n\": 1}\n{\"n\": 2}\n"}`, `[1,2]`},
		"all values at once":          {`{"filter":"map(.n)","input":"{\"n\": 1}\n{\"n\": 2}\n","slurp":true}`, `[[1,2]]`},
		"a filter that takes inputs":  {`{"filter":"[., inputs] | length","input":"{\"n\": 1}\n{\"n\": 2}\n"}`, `[2]`},
		"input":                       {`{"filter":"input.n - .n","input":"{\"n\": 1}\n{\"n\": 2}\n"}`, `[1]`},
		"empty text":                  {`{"filter":".","input":" \n"}`, `[]`},
		"empty text at once":          {`{"filter":".","input":"","slurp":true}`, `[[]]`},
		"nothing selected":            {`{"filter":".[] | select(. > 9)","input":[1, 2]}`, `[]`},
		"variables":                   {`{"filter":"$who + $more[0].x","args":{"who":"hello","more":[{"x":"!"}]}}`, `["hello!"]`},
		"no environment":              {`{"filter":"$ENV, env"}`, `[{},{}]`},
		"halt":                        {`{"filter":"1, halt, 2"}`, `[1]`},
		"debug":                       {`{"filter":"debug | debug(\"x\") | stderr | input_filename"}`, `[null]`},
		"dollar keys":                 {`{"filter":".","input":{"$blob":"sha256:00","$$x":1}}`, `[{"$$x":1,"$blob":"sha256:00"}]`},
		"control characters":          {`{"filter":".","input":"\"\\u0008\\u000c\\u007f\\u2028\""}`, `["\b\f` + "\\u007f\u2028" + `"]`},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := Run(t.Context(), given(t, c.params), io.Discard)
			if err != nil {
				t.Fatal(err)
			}
			var all []json.RawMessage
			if err := json.Unmarshal([]byte(c.want), &all); err != nil {
				t.Fatal(err)
			}
			single := ""
			switch len(all) {
			case 0:
				single = "null"
			case 1:
				single = string(all[0])
			}
			if string(out.Results) != c.want || out.Count != len(all) || string(out.Result) != single {
				t.Errorf("%s %s %d, want %s", out.Result, out.Results, out.Count, c.want)
			}
		})
	}
}

// failsWith runs a filter that must fail with a fault of a type and with words in its message.
func failsWith(t *testing.T, params string, kind fault.Type, words ...string) *fault.Fault {
	t.Helper()
	out, err := Run(t.Context(), given(t, params), io.Discard)
	f, ok := errors.AsType[*fault.Fault](err)
	if !ok || out != nil {
		t.Fatalf("%s: %v, %v", params, out, err)
	}
	if f.Type != kind || len(f.Suggestions) == 0 {
		t.Errorf("%s: %+v", params, f)
	}
	for _, w := range words {
		if !strings.Contains(f.Message, w) {
			t.Errorf("%s: %q is not in %q", params, w, f.Message)
		}
	}
	return f
}

func TestRunFailures(t *testing.T) {
	for params, words := range map[string][]string{
		`{"filter":".a","input":"hello"}`:                        {`The filter failed: expected an object but got: string ("hello")`, "the input is text, not JSON"},
		`{"filter":".a","input":"{\"a\": 1\n]"}`:                 {"the input is text, not JSON: invalid character ']'", "on line 2"},
		`{"filter":".a","input":[1]}`:                            {"expected an object but got: array ([1])"},
		`{"filter":".a","input":"{} [] 3"}`:                      {"expected an object but got: array ([]), in value 2 of the input"},
		`{"filter":".","input":"{}\n{]"}`:                        {"The input is not JSON after value 1", "on line 2"},
		`{"filter":".","input":"{}\n{","slurp":true}`:            {"The input is not JSON after value 1", "it ends in the middle of a value"},
		`{"filter":"error(\"no \" + .)","input":"luck"}`:         {"The filter ended with error: no luck"},
		`{"filter":"error"}`:                                     {"The filter ended with error: null"},
		`{"filter":"{a: 1} | error"}`:                            {`The filter ended with error: {"a":1}`},
		`{"filter":"\"bad\\n\" | halt_error"}`:                   {"The filter ended with halt_error: bad"},
		`{"filter":"[1] | halt_error(3)"}`:                       {"The filter ended with halt_error: [1]"},
		`{"filter":"input"}`:                                     {"The filter failed: input found no more values"},
		`{"filter":".a |"}`:                                      {"The filter is not valid jq: unexpected EOF"},
		`{"filter":"nope(1)"}`:                                   {"function not defined: nope/1"},
		`{"filter":"$who","args":{"whom":1}}`:                    {"variable not defined: $who"},
		`{"filter":"import \"x\" as x; ."}`:                      {"cannot load module"},
		`{"filter":".","args":{"a-b":1}}`:                        {"$a-b"},
		`{"filter":".","timeout":-1}`:                            {"timeout must be more than 0"},
		`{"filter":"[limit(9; repeat(\"x\" * 1e8))] | add * 9"}`: {"more than"},
	} {
		kind := fault.Execution
		if strings.Contains(params, "1e8") {
			kind = fault.TooLarge
		}
		failsWith(t, params, kind, words...)
	}
	if f := failsWith(t, `{"filter":".a | nope(1)"}`, fault.Execution); f.Path != "params.filter" || f.Details["offset"] != 5 || f.Details["filter"] != ".a | nope(1)" {
		t.Errorf("%+v", f)
	}
	if f := failsWith(t, `{"filter":"[1] | halt_error(3)"}`, fault.Execution); f.Details["halt_code"] != 3 {
		t.Errorf("%+v", f)
	}
}

// The outputs have a single value twice, so the first counts twice.
func TestWhatAFilterPutsOutHasABound(t *testing.T) {
	const most = 1000
	almost := &results{limit: most}
	if err := almost.add(strings.Repeat("x", most/2-otherOutputs/2-2)); err != nil {
		t.Fatal(err)
	}
	raw, err := rawjson.Marshal(almost.outputs())
	if err != nil || len(raw) > most || len(raw) < most-otherOutputs {
		t.Errorf("%d bytes, %v", len(raw), err)
	}
	if err := (&results{limit: most}).add(strings.Repeat("x", most/2)); !errors.Is(err, errTooLong) {
		t.Errorf("a value of half of it: %v", err)
	}
	more := &results{limit: most}
	for i := range 4 {
		if err := more.add(strings.Repeat("x", most/4)); (err != nil) != (i == 3) {
			t.Errorf("value %d: %v", i, err)
		}
	}
}

// A filter that never ends is stopped, whether it emits values, collects them, or does neither.
func TestAFilterWithoutEnd(t *testing.T) {
	for _, filter := range []string{"repeat(1)", "last(range(infinite))", "def f: f; f", "[limit(1e12; repeat(\\\"x\\\"))]"} {
		failsWith(t, `{"filter":"`+filter+`","timeout":0.05}`, fault.Timeout, "The filter timed out after 0.05 seconds")
	}
	failsWith(t, `{"filter":"repeat(\"x\" * 1e7)","timeout":500}`, fault.TooLarge, "more than 128 MiB")
}

// The error of a run whose context is cancelled is the cause.
func TestAFilterThatIsStopped(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	cancel(enough)
	if out, err := Run(ctx, given(t, `{"filter":"repeat(1)"}`), io.Discard); !errors.Is(err, enough) {
		t.Errorf("%v %v", out, err)
	}
}

// Run returns even if the filter cannot be interrupted.
func TestAFilterThatCannotBeInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	says := &saysOnce{said: make(chan struct{}), goOn: make(chan struct{})}
	defer close(says.goOn)
	enough := errors.New("enough")
	go func() {
		<-says.said
		cancel(enough)
	}()
	if out, err := Run(ctx, given(t, `{"filter":"debug"}`), says); !errors.Is(err, enough) {
		t.Errorf("%v %v", out, err)
	}
}

// saysOnce is a writer that reports the first write and blocks until it may go on.
type saysOnce struct{ said, goOn chan struct{} }

func (s *saysOnce) Write(p []byte) (int, error) {
	close(s.said)
	<-s.goOn
	return len(p), nil
}

func TestAFilterSaysWhatItDebugs(t *testing.T) {
	var said bytes.Buffer
	_, err := Run(t.Context(), given(t, `{"filter":"debug | .a | debug(\"m\") | stderr","input":{"a":"<b>"}}`), &said)
	if got := said.String(); err != nil || got != "[\"DEBUG:\",{\"a\":\"<b>\"}]\n[\"DEBUG:\",\"m\"]\n\"<b>\"\n" {
		t.Errorf("%q %v", got, err)
	}
}

// aValue returns a generator of JSON values with sorted keys.
func aValue(depth int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		kinds := 4
		if depth > 0 {
			kinds = 6
		}
		switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
		case 0:
			return rapid.StringMatching(`-?(0|[1-9][0-9]{0,30})(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,4})?`).Draw(t, "number")
		case 1:
			return string(rawjson.Quote(rapid.String().Draw(t, "text")))
		case 2:
			return rapid.SampledFrom([]string{"true", "false", "null"}).Draw(t, "word")
		case 3:
			return string(rawjson.Quote(rapid.SampledFrom([]string{"$blob", "{}", "1", "\ufeff", "\\"}).Draw(t, "odd")))
		case 4:
			return "[" + strings.Join(rapid.SliceOfN(aValue(depth-1), 0, 4).Draw(t, "list"), ",") + "]"
		default:
			members := map[string]json.RawMessage{}
			for key, value := range rapid.MapOfN(rapid.String(), aValue(depth-1), 0, 4).Draw(t, "object") {
				members[key] = json.RawMessage(value)
			}
			raw, err := rawjson.Marshal(members)
			if err != nil {
				t.Fatal(err)
			}
			return string(raw)
		}
	})
}

// The filter . returns every value unchanged, also one that comes as text.
func TestItGivesBackWhatItGets(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		value := aValue(3).Draw(r, "value")
		if value[0] != '"' || rapid.Bool().Draw(r, "as text") {
			if rapid.Bool().Draw(r, "quoted") || value[0] == '"' {
				value = string(rawjson.Quote(value))
			}
		}
		raw := json.RawMessage(value)
		in := given(t, `{"filter":"."}`)
		in.Input = raw
		out, err := Run(t.Context(), in, io.Discard)
		if err != nil {
			r.Fatalf("%s: %v", value, err)
		}
		if value[0] == '"' {
			var text string
			_ = json.Unmarshal(raw, &text)
			text = strings.TrimPrefix(text, "\ufeff")
			if strings.Trim(text, " \t\r\n") == "" { // it holds no value
				raw = json.RawMessage("null")
			} else if json.Valid([]byte(text)) {
				raw = json.RawMessage(text)
			}
		}
		var got, want any
		if err := errors.Join(strictly(out.Result, &got), strictly(raw, &want)); err != nil {
			r.Fatal(err)
		}
		a, _ := json.Marshal(got)
		b, _ := json.Marshal(want)
		if !bytes.Equal(a, b) {
			r.Fatalf("%s came back as %s", b, a)
		}
	})
}

// strictly decodes JSON and keeps the digits of numbers.
func strictly(raw []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	return dec.Decode(into)
}
