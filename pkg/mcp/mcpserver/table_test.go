package mcpserver_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
)

// saying is a tool that answers with a text.
func saying(name, answer string) mcpserver.Tool {
	x := tool(name, func(context.Context, *mcpserver.Call) *mcpserver.Result { return text(answer) })
	x.Description = answer
	return x
}

// changed reads the next line, which must be the notification of a change.
func (c *client) changed(list string) string {
	c.t.Helper()
	line := c.next()
	if gjson.Get(line, "method").Str != "notifications/"+list+"/list_changed" || gjson.Get(line, "id").Exists() {
		c.t.Errorf("not the notification that %s changed: %s", list, line)
	}
	return line
}

// said returns what a tool answers; "refused" with its code for an error.
func (c *client) said(tool string) string {
	c.t.Helper()
	c.send(call("9", tool, "{}"))
	line := c.answer("9")
	if code := gjson.Get(line, "error.code"); code.Exists() {
		return "refused " + code.Raw
	}
	return gjson.Get(line, "result.content.0.text").Str
}

// listed returns the descriptions of the tools, or the URIs of the resources.
func (c *client) listed(method string) string {
	c.t.Helper()
	path := map[string]string{"tools/list": "tools.#.description", "resources/list": "resources.#.uri", "resources/templates/list": "resourceTemplates.#.uriTemplate"}[method]
	c.send(legacy("8", method, ""))
	return gjson.Get(c.answer("8"), "result."+path).Raw
}

func TestToolsChangeWhileServing(t *testing.T) {
	overBoth(t, func(t *testing.T, over connect) {
		s := newServer(t, mcpserver.Config{Name: "s", Tools: []mcpserver.Tool{saying("a", "first")}, ToolsChange: true})
		c := over(t, s)
		c.send(hello("2025-11-25"))
		if got := gjson.Get(c.answer("0"), "result.capabilities").Raw; got != `{"tools":{"listChanged":true}}` {
			t.Errorf("capabilities %s", got)
		}
		if got := c.said("b"); got != "refused -32602" {
			t.Errorf("before b is there: %s", got)
		}
		if err := s.AddTools(saying("b", "second"), saying("c", "third")); err != nil {
			t.Fatal(err)
		}
		c.changed("tools")
		if got := c.listed("tools/list"); got != `["first","second","third"]` {
			t.Errorf("listed: %s", got)
		}
		if got := c.said("b"); got != "second" {
			t.Errorf("b: %s", got)
		}
		if err := s.AddTools(saying("b", "replaced")); err != nil {
			t.Fatal(err)
		}
		c.changed("tools")
		if got := c.said("b"); got != "replaced" {
			t.Errorf("b: %s", got)
		}
		s.RemoveTools("b", "none")
		c.changed("tools")
		if got := c.said("b"); got != "refused -32602" {
			t.Errorf("after b was removed: %s", got)
		}
		if got := c.listed("tools/list"); got != `["first","third"]` {
			t.Errorf("listed: %s", got)
		}
	})
}

func TestCallOfARemovedToolFinishes(t *testing.T) {
	overBoth(t, func(t *testing.T, over connect) {
		busy, entered, release := stubborn(t)
		s := newServer(t, mcpserver.Config{Name: "s", Tools: []mcpserver.Tool{busy}, ToolsChange: true})
		c := over(t, s)
		c.send(hello("2025-11-25"), call("1", "stubborn", "{}"))
		<-entered
		s.RemoveTools("stubborn")
		if got := c.said("stubborn"); got != "refused -32602" {
			t.Errorf("a further call: %s", got)
		}
		close(release)
		if line := c.answer("1"); gjson.Get(line, "result.content.0.text").Str != "done" {
			t.Errorf("the call under way: %s", line)
		}
	})
}

func TestResourcesChangeWhileServing(t *testing.T) {
	overBoth(t, func(t *testing.T, over connect) {
		shown := func(uri, content string) mcpserver.Resource {
			return mcpserver.Resource{URI: uri, Name: "x", Read: func(context.Context, string) (*mcpserver.Content, error) {
				return &mcpserver.Content{Text: content}, nil
			}}
		}
		s := newServer(t, mcpserver.Config{Name: "s", ResourcesChange: true})
		c := over(t, s)
		c.send(hello("2025-11-25"))
		if got := gjson.Get(c.answer("0"), "result.capabilities").Raw; got != `{"resources":{"listChanged":true}}` {
			t.Errorf("capabilities %s", got)
		}
		c.listed("resources/list")
		read := func(uri string) string {
			c.send(legacy("7", "resources/read", `"uri":"`+uri+`"`))
			line := c.answer("7")
			return gjson.Get(line, "result.contents.0.text").Str + gjson.Get(line, "error.data.available").Raw
		}
		if err := s.AddResources(shown("x://one", "1"), shown("y://{any}", "any")); err != nil {
			t.Fatal(err)
		}
		c.changed("resources")
		if got := c.listed("resources/list") + c.listed("resources/templates/list") + read("x://one") + read("y://z") + read("x://two"); got != `["x://one"]["y://{any}"]1any["x://one","y://{any}"]` {
			t.Error(got)
		}
		if err := s.AddResources(shown("x://one", "one")); err != nil {
			t.Fatal(err)
		}
		c.changed("resources")
		if got := read("x://one") + read("x://two"); got != `one["x://one","y://{any}"]` {
			t.Error(got)
		}
		s.RemoveResources("x://one", "y://{any}", "none")
		c.changed("resources")
		if got := c.listed("resources/list") + c.listed("resources/templates/list") + read("x://one") + read("y://z"); got != `[][]` {
			t.Error(got)
		}
		if err := s.AddResources(mcpserver.Resource{URI: "x://unread"}); err == nil || fault.From(err).Type != fault.Internal {
			t.Errorf("a resource that nothing reads: %v", err)
		}
	})
}

func TestSubscribersHearOfChanges(t *testing.T) {
	overBoth(t, func(t *testing.T, over connect) {
		s := newServer(t, mcpserver.Config{Name: "s", ToolsChange: true, Resources: library()})
		c, deaf := over(t, s), over(t, s)
		deaf.send(modern("1", "tools/list", ""))
		deaf.answer("1")
		c.send(modern(`"ear"`, "subscriptions/listen", `"notifications":{"toolsListChanged":true,"resourcesListChanged":true},`))
		if line := c.next(); gjson.Get(line, "method").Str != "notifications/subscriptions/acknowledged" || gjson.Get(line, "params.notifications").Raw != `{"toolsListChanged":true}` {
			t.Errorf("not the acknowledgement: %s", line)
		}
		if err := s.AddTools(saying("a", "first")); err != nil {
			t.Fatal(err)
		}
		if line := c.changed("tools"); gjson.Get(line, `params._meta.io\.modelcontextprotocol/subscriptionId`).Str != "ear" {
			t.Errorf("whose subscription? %s", line)
		}
		c.send(modern("2", "tools/list", ""))
		if line := c.answer("2"); gjson.Get(line, "result.tools.0.name").Str != "a" {
			t.Error(line)
		}
		deaf.send(modern("2", "tools/list", ""))
		if line := deaf.next(); gjson.Get(line, "id").Raw != "2" {
			t.Errorf("a client that has not subscribed: %s", line)
		}
		c.eof() // a subscription does not hold up the end
		for _, line := range c.rest() {
			t.Errorf("at the end: %s", line)
		}
		if err := c.result(); err != nil {
			t.Errorf("Serve = %v", err)
		}
	})
}

func TestStopEndsSubscriptions(t *testing.T) {
	overBoth(t, func(t *testing.T, over connect) {
		c := over.serve(t, mcpserver.Config{Name: "s", ToolsChange: true})
		c.send(modern("1", "subscriptions/listen", `"notifications":{"toolsListChanged":true},`))
		c.next()
		c.stop(context.DeadlineExceeded)
		if line := c.next(); gjson.Get(line, "id").Raw != "1" || !gjson.Get(line, "result").Exists() {
			t.Errorf("the subscription's own answer: %s", line)
		}
		if lines := c.rest(); len(lines) > 0 {
			t.Errorf("it still said %v", lines)
		}
	})
}

// TestChangesAreHeardByWhoHasProbed holds that a client that probed and then went on with initialize is notified like
// any other of its revision.
func TestChangesAreHeardByWhoHasProbed(t *testing.T) {
	overBoth(t, func(t *testing.T, over connect) {
		s := newServer(t, mcpserver.Config{Name: "s", Tools: []mcpserver.Tool{saying("a", "first")}, ToolsChange: true})
		c := over(t, s)
		c.send(modern(`"probe"`, "server/discover", ""))
		c.answer(`"probe"`)
		c.send(hello("2025-06-18"), legacy("1", "tools/list", ""))
		c.answer("0")
		c.answer("1")
		s.RemoveTools("a")
		c.changed("tools")
		if got := c.listed("tools/list"); got != "[]" {
			t.Errorf("listed: %s", got)
		}
	})
}

// TestChangesAreNotHeardTooSoon holds that a client hears nothing before its session has begun, and nothing at all of a
// server that announces no changes.
func TestChangesAreNotHeardTooSoon(t *testing.T) {
	overBoth(t, func(t *testing.T, over connect) {
		for _, announced := range []bool{true, false} {
			s := newServer(t, mcpserver.Config{Name: "s", Tools: []mcpserver.Tool{saying("a", "first")}, ToolsChange: announced})
			c := over(t, s)
			c.send(legacy("1", "tools/list", ""))
			c.answer("1") // it is too early, but now this session is the server's first
			ready := over(t, s)
			ready.send(hello("2025-11-25"), `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
			ready.answer("0")
			ready.answer("1")
			if err := s.AddTools(saying("b", "second")); err != nil {
				t.Fatal(err)
			}
			if announced {
				ready.changed("tools") // so the time of the notification has come
			}
			c.send(hello("2025-11-25"))
			if line := c.next(); gjson.Get(line, "id").Raw != "0" {
				t.Errorf("before the session: %s", line)
			}
			if got := c.said("b") + ready.said("b"); got != "secondsecond" || len(c.passed)+len(ready.passed) > 0 {
				t.Errorf("%s, and heard %q, %q", got, c.passed, ready.passed)
			}
		}
	})
}

func TestToolThatCannotBeAdded(t *testing.T) {
	overBoth(t, func(t *testing.T, over connect) {
		s := newServer(t, mcpserver.Config{Name: "s", ToolsChange: true})
		c := over(t, s)
		c.send(hello("2025-11-25"), `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
		c.answer("1")
		err := s.AddTools(saying("a", "first"), mcpserver.Tool{Name: "b"}, saying("c", "third"))
		if err == nil || fault.From(err).Type != fault.Internal {
			t.Errorf("AddTools = %v", err)
		}
		if got := c.said("a") + " " + c.said("b") + " " + c.said("c"); got != "first refused -32602 refused -32602" {
			t.Error(got)
		}
	})
}

// TestTableUnderLoad changes the table while clients call and list.
func TestTableUnderLoad(t *testing.T) {
	overBoth(t, func(t *testing.T, over connect) {
		s := newServer(t, mcpserver.Config{Name: "s", Tools: []mcpserver.Tool{echo()}, ToolsChange: true, ResourcesChange: true})
		var group sync.WaitGroup
		for n := range 4 {
			c := over(t, s)
			c.send(hello("2025-11-25"))
			c.answer("0")
			group.Go(func() {
				for i := range 50 {
					name := fmt.Sprintf("tool-%d-%d", n, i)
					if err := s.AddTools(saying(name, name)); err != nil {
						t.Error(err)
					}
					if got := c.said(name); got != name {
						t.Errorf("%s: %s", name, got)
					}
					if !strings.Contains(c.listed("tools/list"), `"`+name+`"`) {
						t.Errorf("%s is not listed", name)
					}
					s.RemoveTools(name)
					if got := c.said(name); got != "refused -32602" {
						t.Errorf("%s: %s", name, got)
					}
				}
			})
		}
		group.Wait()
	})
}

// However long a change of many tools takes, it is one notification, after the last of them.
func TestManyChangesAreFewNotifications(t *testing.T) {
	var before, after []mcpserver.Tool
	var gone []string
	for i := range 2000 {
		before = append(before, saying(fmt.Sprintf("before-%d", i), "first"))
		gone = append(gone, before[i].Name)
		after = append(after, saying(fmt.Sprintf("after-%d", i), "second"))
	}
	s := newServer(t, mcpserver.Config{Name: "s", Tools: before, ToolsChange: true})
	c := overStdio(t, s)
	c.send(hello("2025-11-25"))
	c.answer("0")
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	if got := c.said("before-1"); got != "first" {
		t.Fatal(got)
	}
	if err := s.ChangeTools(gone, after); err != nil {
		t.Fatal(err)
	}
	c.changed("tools")
	more := 0
	for range 3 { // nothing but the answers follows, and at most one more notification
		c.send(call("9", "after-1999", "{}"))
		line := c.next()
		for strings.Contains(line, "list_changed") {
			more++
			line = c.next()
		}
		if got := gjson.Get(line, "result.content.0.text").Str; got != "second" {
			t.Errorf("the tool answers %q, want second: %s", got, line)
		}
	}
	if more > 1 {
		t.Errorf("%d more notifications of one change, want at most 1", more)
	}
	if got := c.said("before-1"); got != "refused -32602" {
		t.Error(got)
	}
}
