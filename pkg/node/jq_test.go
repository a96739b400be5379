package node

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

func TestJQ(t *testing.T) {
	on := task(t)
	v := values{"object": `{"b": 1.10, "a": "x"}`, "lines": `"{\"n\": 1}\n{\"n\": 2}\n"`, "text": `"hello"`, "marked": `"\ufeff[1]"`}
	for name, c := range map[string]struct{ params, want string }{
		"no input":                    {`{"filter":"{a: 1}"}`, `[{"a":1}]`},
		"an object, its keys sorted":  {`{"filter":".","input":"${object}"}`, `[{"a":"x","b":1.10}]`},
		"digits are kept":             {`{"filter":".[]","input":[12345678901234567890, 1.10, 1e1000, -0]}`, `[12345678901234567890,1.10,1e1000,-0]`},
		"large integers are added":    {`{"filter":".+1","input":12345678901234567890}`, `[12345678901234567891]`},
		"text that holds JSON":        {`{"filter":".a","input":"{\"a\": [1]}"}`, `[[1]]`},
		"text after a mark":           {`{"filter":".[0]","input":"${marked}"}`, `[1]`},
		"text that does not":          {`{"filter":"length","input":"${text}"}`, `[5]`},
		"text with a number in front": {`{"filter":"length","input":"42 apples"}`, `[9]`},
		"text in brackets":            {`{"filter":"length","input":"[INFO] x"}`, `[8]`},
		"text as it is":               {`{"filter":"length","input":"[1, 2]","raw_input":true}`, `[6]`},
		"one value after the other":   {`{"filter":".n","input":"${lines}"}`, `[1,2]`},
		"all values at once":          {`{"filter":"map(.n)","input":"${lines}","slurp":true}`, `[[1,2]]`},
		"a filter that takes inputs":  {`{"filter":"[., inputs] | length","input":"${lines}"}`, `[2]`},
		"input":                       {`{"filter":"input.n - .n","input":"${lines}"}`, `[1]`},
		"empty text":                  {`{"filter":".","input":" \n"}`, `[]`},
		"empty text at once":          {`{"filter":".","input":"","slurp":true}`, `[[]]`},
		"nothing selected":            {`{"filter":".[] | select(. > 9)","input":[1, 2]}`, `[]`},
		"variables":                   {`{"filter":"$who + $more[0].x","args":{"who":"${text}","more":[{"x":"!"}]}}`, `["hello!"]`},
		"no environment":              {`{"filter":"$ENV, env"}`, `[{},{}]`},
		"halt":                        {`{"filter":"1, halt, 2"}`, `[1]`},
		"debug":                       {`{"filter":"debug | debug(\"x\") | stderr | input_filename"}`, `[null]`},
		"dollar keys":                 {`{"filter":".","input":{"$blob":"sha256:00","$$x":1}}`, `[{"$$x":1,"$blob":"sha256:00"}]`},
		"control characters":          {`{"filter":".","input":"\"\\u0008\\u000c\\u007f\\u2028\""}`, `["\b\f` + "\\u007f\u2028" + `"]`},
	} {
		t.Run(name, func(t *testing.T) {
			r := perform(t, on, "jq", c.params, v)
			output(t, r, "count")
			plain, err := event.Plain(r.Outputs, nil)
			if err != nil {
				t.Fatal(err)
			}
			var out struct {
				Result, Results json.RawMessage
				Count           int
			}
			var all, want []json.RawMessage
			if err := errors.Join(json.Unmarshal(plain, &out), json.Unmarshal(out.Results, &all), json.Unmarshal([]byte(c.want), &want)); err != nil {
				t.Fatal(err)
			}
			first := "null"
			if len(want) > 0 {
				first = string(want[0])
			}
			if string(out.Results) != c.want || out.Count != len(want) || string(out.Result) != first {
				t.Errorf("%s, want %s", plain, c.want)
			}
		})
	}
}

func TestJQFailures(t *testing.T) {
	on := task(t)
	on.Place = func(param string, offset int) (string, int, int) { return param, 1, offset }
	for params, words := range map[string][]string{
		`{"filter":".a","input":"hello"}`:                        {`The filter failed: expected an object but got: string ("hello")`, "the input is text, and no JSON"},
		`{"filter":".a","input":"{\"a\": 1\n]"}`:                 {"the input is text, and no JSON: invalid character ']'", "on line 2"},
		`{"filter":".a","input":[1]}`:                            {"expected an object but got: array ([1])"},
		`{"filter":".a","input":"{} [] 3"}`:                      {"expected an object but got: array ([]), in value 2 of the input"},
		`{"filter":".","input":"{}\n{]"}`:                        {"The input is JSON up to its value 1", "on line 2"},
		`{"filter":".","input":"{}\n{","slurp":true}`:            {"The input is JSON up to its value 1", "it ends in the middle of a value"},
		`{"filter":"error(\"no \" + .)","input":"luck"}`:         {"The filter ended with error: no luck"},
		`{"filter":"error"}`:                                     {"The filter ended with error: null"},
		`{"filter":"{a: 1} | error"}`:                            {`The filter ended with error: {"a":1}`},
		`{"filter":"\"bad\\n\" | halt_error"}`:                   {"The filter ended with halt_error: bad"},
		`{"filter":"[1] | halt_error(3)"}`:                       {"The filter ended with halt_error: [1]"},
		`{"filter":"input"}`:                                     {"The filter failed: input finds no more values"},
		`{"filter":".a |"}`:                                      {"The filter is no jq: unexpected EOF"},
		`{"filter":"${f}"}`:                                      {"function not defined: nope/1"},
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
		r := perform(t, on, "jq", params, values{"f": `"nope(1)"`})
		failedWith(t, r, kind, words...)
		if plainOutput(t, r, "error") != r.Fault.Message {
			t.Errorf("%s left %s", params, r.Outputs)
		}
	}
	r := perform(t, on, "jq", `{"filter":".a | nope(1)"}`, nil)
	if f := r.Fault; f == nil || f.File != "filter" || f.Column != 5 {
		t.Errorf("%+v", f)
	}
}

// A filter that never ends is stopped, whether it gives values, keeps them, or does neither.
func TestAJQFilterWithoutEnd(t *testing.T) {
	on := task(t)
	for _, filter := range []string{"repeat(1)", "last(range(infinite))", "def f: f; f", "[limit(1e12; repeat(\\\"x\\\"))]"} {
		failedWith(t, perform(t, on, "jq", `{"filter":"`+filter+`","timeout":0.05}`, nil), fault.Timeout, "The filter timed out after 0.05 seconds")
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	failedWith(t, Run(ctx, prepared(t, "jq", `{"filter":"repeat(1)"}`, nil), on), fault.Execution, "enough")
	failedWith(t, perform(t, on, "jq", `{"filter":"repeat(\"x\" * 1e7)","timeout":500}`, nil), fault.TooLarge, "more than the 128 MiB")
}

// What a filter keeps has a bound too.
func TestAJQFilterThatKeepsWithoutEnd(t *testing.T) {
	in := &nodetype.JQ{Filter: "[range(infinite)]"}
	values, _ := inputValues(in)
	filter, f := compileJQ(in, values, task(t))
	if f != nil {
		t.Fatal(f)
	}
	ctx, stop := boundMemory(t.Context(), 32<<20)
	defer stop()
	results, f := filter.run(ctx)
	if f == nil || f.Type != fault.TooLarge || !strings.Contains(f.Message, "more than 32 MiB of memory") {
		t.Errorf("%v %v", results, f)
	}
}

func TestJQSaysWhatItDebugs(t *testing.T) {
	on := task(t)
	var said bytes.Buffer
	on.Stderr = &said
	output(t, perform(t, on, "jq", `{"filter":"debug | .a | debug(\"m\") | stderr","input":{"a":"<b>"}}`, nil), "result")
	if got := said.String(); got != "[\"DEBUG:\",{\"a\":\"<b>\"}]\n[\"DEBUG:\",\"m\"]\n\"<b>\"\n" {
		t.Errorf("%q", got)
	}
}

// aValue draws a JSON value as it may be written, its keys sorted.
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
			return string(object(members))
		}
	})
}

// The filter that changes nothing gives every value back, also one that comes as text.
func TestJQGivesBackWhatItGets(t *testing.T) {
	on := task(t)
	rapid.Check(t, func(r *rapid.T) {
		value := aValue(3).Draw(r, "value")
		if value[0] != '"' || rapid.Bool().Draw(r, "as text") {
			if rapid.Bool().Draw(r, "quoted") || value[0] == '"' {
				value = string(rawjson.Quote(value))
			}
		}
		raw := json.RawMessage(value)
		p := &Prepared{Params: object(map[string]json.RawMessage{"filter": json.RawMessage(`"."`), "input": raw}), kind: prepared(t, "jq", `{"filter":"."}`, nil).kind}
		got := Run(t.Context(), p, on)
		if got.Fault != nil {
			r.Fatalf("%s: %v", value, got.Fault)
		}
		plain, err := event.Plain(got.Outputs, nil)
		if err != nil {
			r.Fatal(err)
		}
		var out struct{ Result any }
		if err := strictly(plain, &out); err != nil {
			r.Fatal(err)
		}
		if value[0] == '"' {
			var text string
			_ = json.Unmarshal(raw, &text)
			text = strings.TrimPrefix(text, "\ufeff")
			if strings.TrimSpace(text) == "" { // it holds no value
				raw = json.RawMessage("null")
			} else if json.Valid([]byte(text)) {
				raw = json.RawMessage(text)
			}
		}
		var want any
		if err := strictly(raw, &want); err != nil {
			r.Fatal(err)
		}
		a, _ := json.Marshal(out.Result)
		b, _ := json.Marshal(want)
		if !bytes.Equal(a, b) {
			r.Fatalf("%s came back as %s", b, a)
		}
	})
}

// strictly decodes with the digits of numbers.
func strictly(raw []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	return dec.Decode(into)
}
