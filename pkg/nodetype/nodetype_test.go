package nodetype

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

func TestFit(t *testing.T) {
	for _, c := range []struct {
		typ, raw, want string // without want it does not fit
	}{
		{"str", `"a <b>"`, `"a <b>"`}, {"str", `1.50`, `"1.50"`}, {"str", ` true `, `"true"`}, {"str", `{"a": [1, "<"]}`, `"{\"a\":[1,\"<\"]}"`}, {"str", `"\ud83d\ude00"`, `"\ud83d\ude00"`},
		{"int", `7`, `7`}, {"int", `"7"`, `7`}, {"int", `" -7\n"`, `-7`}, {"int", `9223372036854775807`, `9223372036854775807`},
		{"int", `9223372036854775808`, ``}, {"int", `1.5`, ``}, {"int", `"1e3"`, `1000`}, {"int", `2.0`, `2`}, {"int", `-2.50e1`, `-25`}, {"int", `1e300`, ``}, {"int", `9007199254740993.0`, ``}, {"int", `1e16`, ``}, {"int", `""`, ``}, {"int", `"0x10"`, ``}, {"int", `"007"`, ``}, {"int", `"+7"`, ``}, {"int", `true`, ``}, {"int", `[1]`, ``}, {"int", `"1 2"`, ``}, {"int", `"-"`, ``},
		{"float", `1.50`, `1.50`}, {"float", `"1e3"`, `1e3`}, {"float", `12345678901234567890`, `12345678901234567890`}, {"float", `1e999`, ``}, {"float", `"NaN"`, ``}, {"float", `"Infinity"`, ``}, {"float", `".5"`, ``}, {"float", `{}`, ``},
		{"duration", `1.50`, `1.50`}, {"duration", `" 2.50 "`, `2.50`}, {"duration", `"5m"`, `300`}, {"duration", `"1h30m"`, `5400`}, {"duration", `"250ms"`, `0.25`}, {"duration", `".5"`, `0.5`}, {"duration", `0`, `0`}, {"duration", `-1`, ``}, {"duration", `"-5m"`, ``}, {"duration", `"soon"`, ``}, {"duration", `""`, ``}, {"duration", `true`, ``}, {"duration", `[1]`, ``}, {"duration", `1e300`, ``}, {"duration", `"NaN"`, ``},
		{"bool", `true`, `true`}, {"bool", `"False"`, `false`}, {"bool", `" TRUE "`, `true`}, {"bool", `1`, ``}, {"bool", `"yes"`, ``}, {"bool", `""`, ``}, {"bool", `[]`, ``},
		{"list", `[1, 2]`, `[1, 2]`}, {"list", `"[1, 2]"`, `[1, 2]`}, {"list", `"[1"`, ``}, {"list", `{}`, ``}, {"list", `"a"`, ``}, {"list", `"{}"`, ``}, {"list", `""`, ``},
		{"dict", `{"n": 1.10}`, `{"n": 1.10}`}, {"dict", `" {\"n\": 1.10} "`, `{"n": 1.10}`}, {"dict", `[]`, ``}, {"dict", `"{"`, ``}, {"dict", `3`, ``},
		{"any", `"[1]"`, `"[1]"`}, {"any", `1.10`, `1.10`}, {"unheard of", `[1]`, `[1]`},
	} {
		got, ok := Fit(c.typ, json.RawMessage(c.raw))
		if ok != (c.want != "") || ok && string(got) != c.want {
			t.Errorf("Fit(%s, %s) = %s %v, want %s", c.typ, c.raw, got, ok, c.want)
		}
	}
}

// A fitted value is valid JSON, and Fit returns it unchanged.
func TestFitIsStable(t *testing.T) {
	texts := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"1", " 2.5 ", "5m", "true", "[1]", `{"a":"b"}`, "-", "1e5", "null"}))
	rapid.Check(t, func(t *rapid.T) {
		raw, err := json.Marshal(texts.Draw(t, "text"))
		if err != nil {
			t.Fatal(err)
		}
		if rapid.Bool().Draw(t, "bare") && json.Valid(raw[1:len(raw)-1]) {
			raw = raw[1 : len(raw)-1]
		}
		typ := rapid.SampledFrom([]string{"str", "int", "float", "duration", "bool", "list", "dict", "any"}).Draw(t, "type")
		once, ok := Fit(typ, raw)
		if !ok {
			return
		}
		twice, ok := Fit(typ, once)
		if !json.Valid(once) || !ok || !bytes.Equal(once, twice) {
			t.Fatalf("%s %s: %s, then %s %v", typ, raw, once, twice, ok)
		}
	})
}

func TestMCPName(t *testing.T) {
	for tool, want := range map[string]string{
		"list": "mcp-s-list", "list_all": "mcp-s-list-all", "listAll": "mcp-s-listall", "a__b--c": "mcp-s-a-b-c", "_a_": "mcp-s-a", "A.B/C": "mcp-s-a-b-c", "ü": "mcp-s-", "": "mcp-s-", "2x": "mcp-s-2x",
	} {
		if got := MCPName("s", tool); got != want {
			t.Errorf("%q: %s, want %s", tool, got, want)
		}
	}
}

func TestEntryRoundTrip(t *testing.T) {
	types := []Type{{
		Name: "mcp-s-t", Description: "a <b> & c", Actions: []string{"default", "error"}, ExtraOutputs: true,
		Params: []Param{
			{Name: "n", Type: "int", Description: "how many", Required: true, Default: json.RawMessage(`10`), Enum: json.RawMessage(`[10,20]`)},
			{Name: "s", Type: "str", Default: json.RawMessage(`"<&>"`)},
		},
		Outputs: []Output{{Name: "result", Type: "any", Description: "all of it"}},
		MCP:     &MCP{Server: "s", Tool: "T", OriginalSchema: json.RawMessage(`{"pattern":"<.+>"}`)},
	}}
	for _, name := range BuiltinNames() {
		typ, ok := Builtin(name)
		if !ok || typ.Name != name || typ.Description == "" || len(typ.Params) == 0 || len(typ.Outputs) == 0 && !typ.ExtraOutputs {
			t.Errorf("%s: %+v", name, typ)
		}
		typ.Program = "" // an entry has it only with a path
		for i := range typ.Params {
			typ.Params[i].Input = false // an entry does not have it
		}
		types = append(types, typ)
	}
	for _, want := range types {
		var buf bytes.Buffer
		enc := json.NewEncoder(&buf)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(want); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(buf.String(), `\u00`) {
			t.Errorf("escaped: %s", buf.String())
		}
		if direct, err := want.MarshalJSON(); err != nil || string(direct)+"\n" != buf.String() {
			t.Errorf("by itself %s %v", direct, err)
		}
		got := Type{Name: want.Name}
		if err := json.Unmarshal(buf.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s", d)
		}
	}
}

func TestEntryOfUpstream(t *testing.T) {
	typ := Type{Name: "mcp-s-t"}
	err := json.Unmarshal([]byte(`{"class_name":"MCPNode","grease":1,"interface":{"description":" d\n","inputs":[],"params":[{"key":"p","type":"str","required":true,"x":1},{"key":"q","type":"any"}],
		"outputs":[{"key":"result","type":"any"}],"actions":["default"],"mcp_metadata":{"server":"s","tool":"t"}}}`), &typ)
	if err != nil {
		t.Fatal(err)
	}
	want := Type{
		Name: "mcp-s-t", Description: "d", Actions: []string{"default", "error"}, ExtraOutputs: true, MCP: &MCP{Server: "s", Tool: "t"},
		Params: []Param{{Name: "p", Type: "str", Required: true}, {Name: "q", Type: "any"}}, Outputs: []Output{{Name: "result", Type: "any"}},
	}
	if d := cmp.Diff(want, typ); d != "" {
		t.Errorf("%s", d)
	}
	if err := json.Unmarshal([]byte(`{"interface":{"params":{}}}`), &typ); err == nil {
		t.Error("params that are not a list were accepted")
	}
}

func TestLookups(t *testing.T) {
	typ, _ := Builtin("shell")
	if p, ok := typ.Param("command"); !ok || !p.Required || p.Type != "str" || p.Default != nil {
		t.Errorf("%+v %v", p, ok)
	}
	if p, ok := typ.Param("timeout"); !ok || p.Required || p.Type != DurationType || p.Default != nil {
		t.Errorf("%+v %v", p, ok)
	}
	if o, ok := typ.Output("exit_code"); !ok || o.Type != "int" {
		t.Errorf("%+v %v", o, ok)
	}
	_, param := typ.Param("nope")
	_, output := typ.Output("nope")
	if _, ok := Builtin("nope"); ok || param || output {
		t.Error("what does not exist was found")
	}
	if typ.ParamNames()[0] != "command" || len(typ.ParamNames()) != len(typ.Params) {
		t.Errorf("%v", typ.ParamNames())
	}
}

// A default has the type of its parameter.
func TestDefaultsFit(t *testing.T) {
	for _, name := range BuiltinNames() {
		typ, _ := Builtin(name)
		var defaults map[string]json.RawMessage
		if err := json.Unmarshal(typ.Defaults(), &defaults); err != nil {
			t.Fatal(err)
		}
		for _, p := range typ.Params {
			if got, ok := defaults[p.Name]; ok != (p.Default != nil) || ok && !bytes.Equal(got, p.Default) {
				t.Errorf("%s.%s: %s", name, p.Name, got)
			}
			if p.Default == nil {
				continue
			}
			if fitted, ok := Fit(p.Type, p.Default); !ok || !bytes.Equal(fitted, p.Default) {
				t.Errorf("%s.%s: the default %s is not a %s", name, p.Name, p.Default, p.Type)
			}
		}
	}
}

func TestTexts(t *testing.T) {
	var got Texts
	if err := json.Unmarshal([]byte(`{"s":"a\n","n":1.50,"big":12345678901234567890,"t":true,"f":false,"no":null,"o":{"a": 1}}`), &got); err != nil {
		t.Fatal(err)
	}
	want := Texts{"s": "a\n", "n": "1.50", "big": "12345678901234567890", "t": "true", "f": "false", "o": `{"a": 1}`}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s", d)
	}
	if err := json.Unmarshal([]byte(`[]`), &got); err == nil {
		t.Error("a list was accepted")
	}
}

func TestSeconds(t *testing.T) {
	for s, want := range map[Seconds]string{0.25: "250ms", 90: "1m30s", 0: "0s", -1: "-1s"} {
		if got := s.Duration().String(); got != want {
			t.Errorf("%v: %s, want %s", s, got, want)
		}
	}
	if got := Seconds(1e300).Duration(); got <= 0 {
		t.Errorf("very long is %s", got)
	}
}

func TestShellOutputsAreTheirJSON(t *testing.T) {
	for _, o := range []ShellOutputs{
		{Stdout: Binary(`""`), Stderr: Binary(`""`)},
		{Stdout: Binary(`{"$base64":"/w=="}`), StdoutIsBinary: true, Stderr: Binary(`"a\n"`), StderrIsBinary: true, ExitCode: -1, Error: "it \"failed\"\n<é>"},
	} {
		want, err := rawjson.Marshal(o)
		if err != nil || string(o.JSON()) != string(want) {
			t.Errorf("%s, not %s: %v", o.JSON(), want, err)
		}
	}
}
