package workflow

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestNodeFields decodes every form of a node's fields, with their defaults.
func TestNodeFields(t *testing.T) {
	minute, day := Duration(time.Minute), Duration(24*time.Hour)
	for fields, want := range map[string]Node{
		`"batch": {"items": "${x}"}`: {Batch: &Batch{Items: json.RawMessage(`"${x}"`), As: "item", ErrorHandling: "fail_fast", MaxConcurrent: 10, MaxRetries: 1}},
		`"batch": {"items": [], "as": "a-b", "error_handling": "continue", "parallel": true, "max_concurrent": 1e2, "max_retries": 2.0, "retry_wait": "500ms"}`: {
			Batch: &Batch{Items: json.RawMessage(`[]`), As: "a-b", ErrorHandling: "continue", Parallel: true, MaxConcurrent: 100, MaxRetries: 2, RetryWait: Duration(500 * time.Millisecond)}},
		`"loop": {"while": true, "wait": "1m", "backoff": "exponential", "max_wait": 300}`: {
			Loop: &Loop{While: "true", MaxIterations: json.RawMessage("100"), Wait: json.RawMessage("60"), Backoff: json.RawMessage(`"exponential"`), MaxWait: json.RawMessage("300")}},
		`"loop": {"while": true, "max_iterations": "${n}", "wait": "${w}s", "backoff": "${b}", "max_wait": "${m}"}`: {
			Loop: &Loop{While: "true", MaxIterations: json.RawMessage(`"${n}"`), Wait: json.RawMessage(`"${w}s"`), Backoff: json.RawMessage(`"${b}"`), MaxWait: json.RawMessage(`"${m}"`)}},
		`"loop": {"while": true}`: {Loop: &Loop{While: "true", MaxIterations: json.RawMessage("100")}},
		`"loop": {"until": "${a.done}", "carry": {"n": "${a.n}"}, "max_iterations": 3}`: {
			Loop: &Loop{Until: "${a.done}", Carry: map[string]json.RawMessage{"n": json.RawMessage(`"${a.n}"`)}, MaxIterations: json.RawMessage("3")}},
		`"retry": 3`: {Retry: &Retry{Max: 3, Backoff: "fixed", MaxWait: minute}},
		`"retry": {"max": 1, "wait": "2m", "backoff": "exponential", "jitter": 0.5, "only_exit_codes": [1]}`: {
			Retry: &Retry{Max: 1, Wait: 2 * minute, Backoff: "exponential", MaxWait: 2 * minute, Jitter: 0.5, OnlyExitCodes: []int{1}}},
		`"retry": {"max": 1, "wait": 1, "max_wait": 0.5e1}`: {Retry: &Retry{Max: 1, Wait: minute / 60, Backoff: "fixed", MaxWait: minute / 12}},
		`"timeout": 1.5`:               {Timeout: &Timeout{Node: Duration(1500 * time.Millisecond)}},
		`"timeout": "1h30m"`:           {Timeout: &Timeout{Node: 90 * minute}},
		`"timeout": {"attempt": "60"}`: {Timeout: &Timeout{Attempt: minute}},
		`"approval": true`:             {Approval: &Approval{}},
		`"approval": "required"`:       {Approval: &Approval{}},
		`"approval": {}`:               {Approval: &Approval{}},
		`"approval": false`:            {},
		`"approval": {"question": "${q}", "choices": ["a", "b"]}`: {Approval: &Approval{Question: "${q}", Choices: []string{"a", "b"}}},
		`"cache": true`:                              {Cache: &Cache{TTL: day}},
		`"cache": {}`:                                {Cache: &Cache{TTL: day}},
		`"cache": {"ttl": 3600}`:                     {Cache: &Cache{TTL: 60 * minute}},
		`"cache": false`:                             {},
		`"unsafe_templates": true`:                   {UnsafeTemplates: true},
		`"purpose": null, "unsafe_templates": null`:  {},
		`"inputs": {"a": 1}`:                         {Params: json.RawMessage(`{"inputs":{"a":1}}`)},
		`"inputs": {"a": 1}, "parameters": {"b": 2}`: {Params: json.RawMessage(`{"b":2,"inputs":{"a":1}}`)},
	} {
		f, err := Parse("w.json", []byte(`{"nodes": [{"id": "a", "type": "echo", `+fields+`}]}`))
		if err != nil {
			t.Errorf("%s: %v", fields, err)
			continue
		}
		want.ID, want.Type = "a", "echo"
		if want.Params == nil {
			want.Params = json.RawMessage("{}")
		}
		if d := cmp.Diff(want, f.Workflow.Nodes[0], same); d != "" {
			t.Errorf("%s:\n%s", fields, d)
		}
	}
}

func TestParseBareAndWrapped(t *testing.T) {
	bare := `{"ir_version":"0.1.0","nodes":[{"id":"a","type":"shell","parameters":{"command":"echo"}}],"edges":[{"from":"a","to":"a"}],"created_at":"2026-01-02T03:04:05+00:00"}`
	f, err := Parse("w.json", []byte(bare))
	if err != nil {
		t.Fatal(err)
	}
	if n := f.Workflow.Nodes[0]; n.ID != "a" || string(n.Params) != `{"command":"echo"}` || f.Workflow.Edges[0].Action != "default" || f.CreatedAt.Year() != 2026 {
		t.Errorf("%+v", f.Workflow)
	}
	f, err = Parse("w.json", []byte(`{"description":"d","ir":{"nodes":[{"id":"a","type":"echo"}]},"rich_metadata":{"x":1},"version":"1.0.0"}`))
	if err != nil || !f.Wrapped || f.Workflow.Description != "d" || f.Version != "1.0.0" {
		t.Errorf("%+v %v", f, err)
	}
}

func TestForms(t *testing.T) {
	const asJSON, asMarkdown = ` {"nodes": [{"id": "a", "type": "echo"}]}`, "## Steps\n### a\nText.\n- type: echo\n"
	for _, c := range []struct{ name, source, want string }{
		{"w.json", asJSON, "json"}, {"-", asJSON, "json"}, {"saved", asJSON, "json"}, {"w.yaml", "\xef\xbb\xbf" + asJSON, "json"},
		{"w.md", asMarkdown, "markdown"}, {"w.pflow.md", asMarkdown, "markdown"}, {"-", "\n\n" + asMarkdown, "markdown"}, {"saved", "---\nversion: 1.0.0\n---\n" + asMarkdown, "markdown"},
		{"w.json", asMarkdown, "It looks like the Markdown form"}, {"w.md", asJSON, "looks like JSON"},
		{"-", "hello", "it is neither JSON nor Markdown"}, {"-", "", "Invalid JSON in -: the file is empty"}, {"w.md", " \n", "w.md is empty"},
		{"-", "\"text\"", "neither"}, {"-", "a\xffb", "- is not UTF-8 text: the byte 0xff"}, {"-", "\xff\xfe{\x00", "UTF-16"}, {"-", "{\"description\": \"\xc3\"}", "0xc3"},
		{"w.md", "# \xe9", "0xe9"},
	} {
		f, err := Parse(c.name, []byte(c.source))
		got := "json"
		if err != nil {
			got = faultOf(err).Error() + strings.Join(faultOf(err).Suggestions, " ")
		} else if f.Markdown {
			got = "markdown"
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s %q: %s, want %s", c.name, c.source, got, c.want)
		}
	}
}

// TestLimits checks that a hostile file results in an error, and in a short one.
func TestLimits(t *testing.T) {
	node := func(data string) string {
		return `{"nodes": [{"id": "a", "type": "echo", "params": {"data": ` + data + `}}]}`
	}
	step := func(data string) string { return "## Steps\n### a\nText.\n- type: echo\n- data: " + data + "\n" }
	many := strings.Repeat("7,", 100_000) + "7"
	var parameters strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&parameters, "- p%d: [1]\n", i)
	}
	for name, c := range map[string]struct{ file, source, want string }{
		"deep":              {"w.json", node(strings.Repeat("[", 1_000_000)), "More than 200 nested objects and lists"},
		"deep and closed":   {"w.json", node(strings.Repeat("[", 198) + strings.Repeat("]", 198)), "More than 200 nested objects and lists"},
		"deep enough":       {"w.json", node(strings.Repeat("[", 196) + strings.Repeat("]", 196)), ""},
		"long number":       {"w.json", node(strings.Repeat("1", 1001)), "A number of 1001 characters"},
		"number":            {"w.json", node(strings.Repeat("1", 1000)), ""},
		"exponent":          {"w.json", node("1e-00001"), "exponent of 5 digits"},
		"many faults":       {"w.json", `{"nodes": [` + many + `]}`, "200 errors"},
		"same key":          {"w.json", `{"nodes": [], "x": {` + strings.Repeat(`"a": 1, `, 100_000) + `"a": 1}}`, "more errors"},
		"many choices":      {"w.json", `{"nodes": [{"id": "a", "type": "echo", "approval": {"choices": [` + many + `]}}]}`, "has 100001 choices, and at most 100 are allowed"},
		"deep YAML":         {"w.md", step(strings.Repeat("[", 1_000_000)), "more than 200 nested mappings and lists"},
		"deep dashes":       {"w.md", step("\n    " + strings.Repeat("- ", 300_000) + "x"), "more than 200 nested mappings and lists"},
		"deep in all":       {"w.md", step(strings.Repeat("[", 198) + strings.Repeat("]", 198)), "More than 200 nested objects and lists"},
		"long YAML number":  {"w.md", step(strings.Repeat("1", 1001)), "A number of 1001 characters"},
		"YAML exponent":     {"w.md", step("1e123456"), "exponent of 6 digits"},
		"much YAML":         {"w.md", step("[" + strings.Repeat("1,", 600_000) + "]"), "More than 1048576 bytes of YAML"},
		"many parameters":   {"w.md", step("1\n" + parameters.String()), "More than 1048576 bytes of YAML"},
		"much front matter": {"w.md", "---\n" + strings.Repeat("# remark\n", 200_000) + "---\n" + step("1"), "More than 1048576 bytes of YAML in the front matter"},
		"billion laughs":    {"w.md", step("&a [x, x]\n- b: &b [*a, *a]\n- c: [*b, *b]"), "anchors and aliases"},
		"many YAML faults":  {"w.md", step("{" + strings.Repeat("a,", 100_000) + "}"), "is a duplicate"},
		"many text faults":  {"w.md", "## Steps\n" + strings.Repeat("### A\n", 10_000), "more errors"},
	} {
		_, err := Parse(c.file, []byte(c.source))
		switch {
		case err == nil && c.want != "", err != nil && c.want == "":
			t.Errorf("%s: %.300v", name, err)
		case err != nil && (!strings.Contains(err.Error(), c.want) || len(err.Error()) > 50_000):
			t.Errorf("%s: %d bytes: %.300s", name, len(err.Error()), err.Error())
		}
	}
}

// TestFaultsPrintNoGo checks that errors never show names of Go types, whatever the value of a field.
func TestFaultsPrintNoGo(t *testing.T) {
	values := []string{`null`, `true`, `7`, `"x"`, `[]`, `[null]`, `{}`, `{"x": 1}`}
	fields := []string{"id", "type", "purpose", "params", "parameters", "inputs", "batch", "loop", "retry", "timeout", "approval", "cache", "unsafe_templates"}
	for _, field := range fields {
		for _, value := range values {
			_, err := Parse("-", []byte(`{"nodes": [{"id": "a", "type": "echo", "`+field+`2": 1, "`+field+`": `+value+`}]}`))
			if text := faultOf(err).Error(); strings.Contains(text, "workflow.") || strings.Contains(text, "json:") || strings.Contains(text, "%!") {
				t.Error(text)
			}
		}
	}
}

// TestScanAcceptsWhatIsJSON compares the scanner with the standard library on texts that are nearly JSON.
func TestScanAcceptsWhatIsJSON(t *testing.T) {
	pieces := []string{`{`, `}`, `[`, `]`, `,`, `:`, `"a"`, `"b\n"`, `"\u00e9"`, `"\x"`, `"`, `1`, `-0.5`, `e+1`, `01`, `-`, `.`, `true`, `nul`, `null`, ` `, "\n", "\x00", "é", `\`}
	valid := 0
	for i := range 60_000 {
		var b bytes.Buffer
		for n := i; n > 0; n /= len(pieces) {
			b.WriteString(pieces[n%len(pieces)])
		}
		d := newDecoder("w.json", b.Bytes())
		got, want := d.scan(b.String(), 0, ""), json.Valid(b.Bytes())
		if want {
			valid++
		}
		if duplicate := len(d.faults) > 0 && strings.HasPrefix(d.faults[0].Message, "Duplicate"); got != want || got && len(d.faults) > 0 && !duplicate || !got && len(d.faults) == 0 {
			t.Fatalf("%q is accepted: %v, valid: %v, %v", b.String(), got, want, d.fault())
		}
	}
	if valid < 100 {
		t.Errorf("only %d of the texts were JSON", valid)
	}
}

func TestManyKeys(t *testing.T) {
	var b strings.Builder
	for i := range 40 {
		fmt.Fprintf(&b, `"k%d": 1, `, i)
	}
	for _, twice := range []string{"k0", "k15", "k16", "k39"} {
		_, err := Parse("w.json", []byte(`{"nodes": [{"id": "a", "type": "echo", "params": {`+b.String()+`"`+twice+`": 2}}]}`))
		if !strings.Contains(faultOf(err).Error(), fmt.Sprintf("Duplicate key %q", twice)) {
			t.Errorf("%s: %v", twice, err)
		}
	}
}
