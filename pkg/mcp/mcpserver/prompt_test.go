package mcpserver_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
)

// prompting is a prompt whose text is its arguments.
func prompting(name string) mcpserver.Prompt {
	return mcpserver.Prompt{
		Name: name, Title: "The " + name, Description: "about " + name,
		Arguments: []mcpserver.PromptArgument{
			{Name: "topic", Title: "Topic", Description: "what it is about", Required: true}, {Name: "tone"},
		},
		Get: func(_ context.Context, given map[string]string) (string, error) {
			switch given["topic"] {
			case "missing":
				return "", fault.New(fault.NotFound, "there is no topic")
			case "down":
				return "", fault.New(fault.Unavailable, "not now")
			case "own":
				return "", &mcpserver.Error{Kind: mcpserver.Invalid, Message: "no", Data: []byte(`[1]`)}
			case "panic":
				panic("ouch")
			}
			_, toned := given["tone"]
			text := "<" + given["topic"] + ">"
			if toned {
				text += given["tone"]
			}
			return text, nil
		},
	}
}

func TestPrompts(t *testing.T) {
	overBoth(t, func(t *testing.T, over connect) {
		config := mcpserver.Config{Name: "s", Prompts: []mcpserver.Prompt{prompting("write"), prompting("mend")}}
		for _, version := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"} {
			stateless := version == "2026-07-28"
			c := over.serve(t, config)
			if !stateless {
				c.send(hello(version))
				if got := gjson.Get(c.answer("0"), "result.capabilities").Raw; got != `{"prompts":{}}` {
					t.Errorf("%s: capabilities %s", version, got)
				}
			}
			c.send(request(stateless, "1", "prompts/list", `"x":1`))
			listed := gjson.Get(c.answer("1"), "result.prompts")
			if got := listed.Get("#.name").Raw; got != `["mend","write"]` {
				t.Errorf("%s: listed %s", version, got)
			}
			const mend = `{"arguments":[{"name":"topic","title":"Topic","description":"what it is about","required":true},{"name":"tone"}],"description":"about mend","name":"mend","title":"The mend"}`
			if diff := cmp.Diff(mend, listed.Get("0").Raw); diff != "" {
				t.Errorf("%s: %s", version, diff)
			}
			for _, tc := range []struct{ params, path, want string }{
				{`"name":"mend","arguments":{"topic":"rain","tone":"&"}`, "result.messages", `[{"role":"user","content":{"type":"text","text":"<rain>&"}}]`},
				{`"name":"mend","arguments":{"topic":"rain"}`, "result.description", `"about mend"`},
				{`"name":"mend","arguments":{"topic":"rain","tone":""}`, "result.messages.0.content.text", `"<rain>"`},
				{`"name":"mend","arguments":{"topic":"rain","tone":null}`, "result.messages.0.content.text", `"<rain>"`},
				{`"name":"mend"`, "error.code", `-32602`},
				{`"name":"mend"`, "error.data.missing", `["topic"]`},
				{`"name":"mend","arguments":{"topic":""}`, "error.data.missing", `["topic"]`},
				{`"name":"mend","arguments":{"topic":"rain","tne":"x"}`, "error.code", `-32602`},
				{`"name":"mend","arguments":{"topic":"rain","tne":"x"}`, "error.data.suggestions.0", `"Did you mean \"tone\"?"`},
				{`"name":"mend","arguments":{"topic":7}`, "error.code", `-32602`},
				{`"name":"mend","arguments":[]`, "error.code", `-32602`},
				{`"name":"mand"`, "error.code", `-32602`},
				{`"name":"mand"`, "error.data.suggestions.0", `"Did you mean \"mend\"?"`},
				{`"name":"mand"`, "error.data.available", `["mend","write"]`},
				{`"nme":"mend"`, "error.code", `-32602`},
				{`"name":"mend","arguments":{"topic":"missing"}`, "error", `{"code":-32602,"message":"there is no topic","data":{"type":"not_found","message":"there is no topic"}}`},
				{`"name":"mend","arguments":{"topic":"down"}`, "error.code", `-32603`},
				{`"name":"mend","arguments":{"topic":"own"}`, "error", `{"code":-32602,"message":"no","data":[1]}`},
				{`"name":"mend","arguments":{"topic":"panic"}`, "error.code", `-32603`},
				{`"name":"mend","arguments":{"topic":"panic"}`, "error.data.type", `"internal_error"`},
			} {
				c.send(request(stateless, "1", "prompts/get", tc.params))
				if line := c.answer("1"); gjson.Get(line, tc.path).Raw != tc.want {
					t.Errorf("%s, %s: %s is not %s: %s", version, tc.params, tc.path, tc.want, line)
				}
			}
			c.send(request(stateless, "1", "prompts/get", `"name":"mend","arguments":{"topic":"rain"}`))
			if kind := gjson.Get(c.answer("1"), "result.resultType").Str; (kind == "complete") != stateless {
				t.Errorf("%s: resultType %q", version, kind)
			}
		}
	})
}

func TestPromptsChangeWhileServing(t *testing.T) {
	overBoth(t, func(t *testing.T, over connect) {
		s := newServer(t, mcpserver.Config{Name: "s", PromptsChange: true})
		c, probed := over(t, s), over(t, s)
		c.send(hello("2025-11-25"), legacy("1", "prompts/list", ""))
		if got := gjson.Get(c.answer("0"), "result.capabilities").Raw; got != `{"prompts":{"listChanged":true}}` {
			t.Errorf("capabilities %s", got)
		}
		if got := gjson.Get(c.answer("1"), "result.prompts").Raw; got != `[]` {
			t.Errorf("listed: %s", got)
		}
		probed.send(modern(`"probe"`, "server/discover", ""))
		probed.answer(`"probe"`)
		probed.send(hello("2025-06-18"), legacy("1", "prompts/list", ""))
		probed.answer("1")
		get := func() string {
			c.send(legacy("2", "prompts/get", `"name":"mend","arguments":{"topic":"rain"}`))
			line := c.answer("2")
			return gjson.Get(line, "result.messages.0.content.text").Str + gjson.Get(line, "error.code").Raw
		}
		if got := get(); got != "-32602" {
			t.Errorf("before it is there: %s", got)
		}
		if err := s.AddPrompts(prompting("mend")); err != nil {
			t.Fatal(err)
		}
		c.changed("prompts")
		probed.answer("0")
		probed.changed("prompts")
		if got := get(); got != "<rain>" {
			t.Errorf("after it was added: %s", got)
		}
		s.RemovePrompts("mend", "none")
		c.changed("prompts")
		if got := get(); got != "-32602" {
			t.Errorf("after it was removed: %s", got)
		}
		if err := s.AddPrompts(mcpserver.Prompt{Name: "empty"}); err == nil || fault.From(err).Type != fault.Internal {
			t.Errorf("a prompt that has no text: %v", err)
		}
	})
}

func TestPromptsThatHaveOneName(t *testing.T) {
	if _, err := mcpserver.New(mcpserver.Config{Name: "s", Prompts: []mcpserver.Prompt{prompting("a"), prompting("a")}}); err == nil || fault.From(err).Type != fault.Internal {
		t.Errorf("New = %v", err)
	}
}

// TestPromptsAreKept holds that prompts/list is asked for how long it may be kept.
func TestPromptsAreKept(t *testing.T) {
	c := serve(t, mcpserver.Config{Name: "s", Prompts: []mcpserver.Prompt{prompting("a")}, CachePolicy: func(method string) (time.Duration, bool) {
		return time.Duration(len(method)) * time.Second, true
	}})
	c.send(modern("1", "prompts/list", ""))
	if line := c.answer("1"); gjson.Get(line, "result.ttlMs").Int() != int64(len("prompts/list"))*1000 || gjson.Get(line, "result.cacheScope").Str != "private" {
		t.Error(line)
	}
}

func TestPromptsWithTheSDKsClient(t *testing.T) {
	here, there := mcp.NewInMemoryTransports()
	go func() {
		_ = newServer(t, mcpserver.Config{Name: "s", Prompts: []mcpserver.Prompt{prompting("mend")}}).Serve(t.Context(), there)
	}()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "t", Version: "1"}, nil).Connect(t.Context(), here, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = session.Close() }()
	got, err := session.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "mend", Arguments: map[string]string{"topic": "rain"}})
	if err != nil {
		t.Fatal(err)
	}
	want := []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: "<rain>"}}}
	if diff := cmp.Diff(want, got.Messages); diff != "" {
		t.Error(diff)
	}
}
