package suitetools

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
	"github.com/pflow-suite/pflow/pkg/mcp/suitetools/suite"
)

// drafts returns the tools for an author who has no access to the folder of the drafts.
func (f *Front) drafts() []mcpserver.Tool {
	const name = `"name":{"type":"string","description":"the draft's name: lower-case words joined by hyphens"}`
	const form = `"form":{"type":"string","enum":["json","markdown"],"description":"the file of this form only, if the name has one of each form"}`
	const draft = `"name":{"type":"string"},"saved":{"type":"boolean"},"hidden":{"type":"boolean","description":"a saved workflow has the name, which stands for that"},"form":{"type":"string"},"path":{"type":"string","description":"relative to pflow's home folder"}`
	const verdict = draft + `,"replaced":{"type":"boolean"},"valid":{"type":"boolean"},"errors":{"type":"array","items":` + suite.FaultSchema + `},"errors_total":{"type":"integer"},` +
		`"warnings":{"type":"array","items":` + suite.FaultSchema + `},"warnings_total":{"type":"integer"}`
	return []mcpserver.Tool{{
		Name: "write_draft", Title: "Write a draft",
		Description: "Write a workflow as a draft and check it. The text is kept even if it has errors, which the answer lists; correct them and write the whole draft " +
			"again, it replaces the earlier one. The resource pflow://guide has the language on one page. execute runs the draft by its name.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{` + name + `,` +
			`"content":{"type":["string","object"],"description":"the whole workflow: the text of a JSON or Markdown file, or the JSON object itself"}},` +
			`"required":["name","content"],"additionalProperties":false}`),
		OutputSchema: suite.AnswerSchema(verdict), Destructive: true, Idempotent: true,
		Call: summarized(judged(document[writeDraft](f)), judgement),
	}, {
		Name: "read_draft", Title: "Read a draft",
		Description: "Read the text of a draft, as its author wrote it. A long text comes in pages: call again with cursor set to next_cursor.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{` + name + `,` + form + `,` +
			`"cursor":{"type":"string","description":"the next_cursor of the page before"},` +
			`"limit":{"type":"integer","minimum":0,"default":` + strconv.Itoa(maxPage) + `,"description":"the most bytes of the answer; less than 1024 is 1024, and 0 returns the whole text at once"}},` +
			`"required":["name"],"additionalProperties":false}`),
		OutputSchema: suite.AnswerSchema(draft + `,"bytes":{"type":"integer","description":"of the whole text"},"content":{"type":"string"},"next_cursor":{"type":"string"}`),
		ReadOnly:     true, Idempotent: true,
		Call: summarized(document[readDraft](f), func(d json.RawMessage) string { return page(gjson.ParseBytes(d)) }),
	}, {
		Name: "check_draft", Title: "Check a draft",
		Description: "Find everything that is wrong with a draft, without running it.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{` + name + `},"required":["name"],"additionalProperties":false}`), OutputSchema: suite.AnswerSchema(verdict),
		ReadOnly: true, Idempotent: true,
		Call: summarized(judged(document[checkDraft](f)), judgement),
	}, {
		Name: "delete_draft", Title: "Delete a draft",
		Description:  "Delete a draft. A saved workflow of the same name stays.",
		InputSchema:  json.RawMessage(`{"type":"object","properties":{` + name + `,` + form + `},"required":["name"],"additionalProperties":false}`),
		OutputSchema: suite.AnswerSchema(`"success":{"type":"boolean"},"name":{"type":"string"},"saved":{"type":"boolean"}`), Destructive: true,
		Call: summarized(document[deleteDraft](f), func(d json.RawMessage) string {
			return fmt.Sprintf("Deleted the draft %s.", gjson.GetBytes(d, "name").Str)
		}),
	}}
}

type writeDraft struct {
	Name    string          `json:"name"`
	Content json.RawMessage `json:"content"`
}

// command feeds the draft to the command: a text as it is, an object laid out so that errors can name lines.
func (a writeDraft) command() suite.Command {
	var text string
	if json.Unmarshal(a.Content, &text) != nil {
		var laidOut bytes.Buffer
		_ = json.Indent(&laidOut, a.Content, "", "  ") // it is JSON
		text = laidOut.String() + "\n"
	}
	return draftCommand("write", a.Name, []byte(text), limitFlag(maxPage))
}

type readDraft struct {
	Name   string `json:"name"`
	Form   string `json:"form"`
	Cursor string `json:"cursor"`
	Limit  *int   `json:"limit"`
}

func (a readDraft) command() suite.Command {
	return draftCommand("read", a.Name, nil, append(formFlag(a.Form), limitFlag(pageBytes(a.Limit)), "--cursor="+a.Cursor)...)
}

type checkDraft struct {
	Name string `json:"name"`
}

func (a checkDraft) command() suite.Command {
	return draftCommand("check", a.Name, nil, limitFlag(maxPage))
}

type deleteDraft struct {
	Name string `json:"name"`
	Form string `json:"form"`
}

func (a deleteDraft) command() suite.Command {
	return draftCommand("delete", a.Name, nil, formFlag(a.Form)...)
}

// formFlag returns the flag for a form, if one is given.
func formFlag(form string) []string {
	if form == "" {
		return nil
	}
	return []string{"--form=" + form}
}

func limitFlag(limit int) string { return "--max-bytes=" + strconv.Itoa(limit) }

func draftCommand(verb, name string, stdin []byte, flags ...string) suite.Command {
	args := append([]string{"draft", verb, "--format", "json"}, flags...)
	return suite.Command{Program: "pflow-lib", Args: append(args, "--", name), Stdin: stdin}
}

// judged returns a Call that does not fail if it found faults in a draft: the draft was written or read nevertheless.
func judged(call func(context.Context, *mcpserver.Call) *mcpserver.Result) func(context.Context, *mcpserver.Call) *mcpserver.Result {
	return func(ctx context.Context, c *mcpserver.Call) *mcpserver.Result {
		r := call(ctx, c)
		r.IsError = r.IsError && !gjson.GetBytes(r.Structured, "valid").Exists()
		return r
	}
}

// judgement is the summary of a verdict: what is wrong, a line for each fault.
func judgement(document json.RawMessage) string {
	v := struct {
		Name, Path    string
		Valid, Hidden bool
		Replaced      *bool
		Errors        []*fault.Fault
		ErrorsTotal   int `json:"errors_total"`
		Warnings      []*fault.Fault
		WarningsTotal int `json:"warnings_total"`
	}{}
	_ = json.Unmarshal(document, &v) // the command's own document
	var s strings.Builder
	if v.Replaced != nil {
		fmt.Fprintf(&s, "Written to %s. ", v.Path)
	}
	switch {
	case !v.Valid:
		fmt.Fprintf(&s, "The draft %s has errors: %d.", v.Name, max(len(v.Errors), v.ErrorsTotal))
	case v.Hidden:
		fmt.Fprintf(&s, "The draft %s is valid.", v.Name)
	default:
		fmt.Fprintf(&s, "The draft %s is valid; to run it: execute with name %q.", v.Name, v.Name)
	}
	for _, kind := range []struct {
		name   string
		faults []*fault.Fault
	}{{"error", v.Errors}, {"warning", v.Warnings}} {
		for _, f := range kind.faults {
			fmt.Fprintf(&s, "\n%s: %s%s", kind.name, f.Where(), fault.Truncate(f.Message, 300))
		}
	}
	if more := v.WarningsTotal - len(v.Warnings); more > 0 {
		fmt.Fprintf(&s, "\n… and %d more warnings", more)
	}
	return s.String()
}

// page is the summary of a draft's text or of a page of it.
func page(d gjson.Result) string {
	text := fmt.Sprintf("The draft %s: %s, %d bytes.", d.Get("name").Str, d.Get("form").Str, d.Get("bytes").Int())
	if next := d.Get("next_cursor").Str; next != "" {
		text += fmt.Sprintf(" This is a part; the next one is at cursor %q.", next)
	}
	return text
}
