package suite

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/internal/brief"
	"github.com/pflow-suite/pflow/internal/workflownames"
)

// The tools of workflows with names of any script and length, the same ones too, can be called. Their names outlive edits, renames of others
// and the server.
func TestToolsOfRandomNames(t *testing.T) {
	brief.Skip(t)
	t.Parallel()
	p := newPlace(t)
	p.source(`{"sources":[` + strings.Replace(crmSource("now", ""), `"1s"`, `"24h"`, 1) + `]}`)
	names := workflownames.Make(3, 300)
	offer := func(edit int) {
		workflows := make([]map[string]any, len(names))
		for i, name := range names {
			workflows[i] = map[string]any{"id": fmt.Sprint("w", i), "name": name, "description": fmt.Sprint("Description of ", i, " after edit ", edit)}
		}
		raw, err := json.Marshal(workflows)
		if err != nil {
			t.Fatal(err)
		}
		p.replace("list.json", string(raw))
	}
	offer(0)
	c, list := p.offering("--log-level=error")
	tools := func() map[string]string { // by what they are described
		list()
		found := map[string]string{}
		for name, tool := range c.tools {
			if described := gjson.Get(tool.raw, "description").Str; strings.HasPrefix(described, "Description of ") {
				found[strings.Fields(described)[2]] = name
			}
		}
		return found
	}
	first := tools()
	if len(first) != len(names) {
		t.Fatalf("%d tools are listed", len(first))
	}
	form := regexp.MustCompile(`^[a-z0-9_-]{1,40}$`)
	for i, name := range first {
		if !form.MatchString(name) {
			t.Errorf("%s is called %q", i, name)
		}
	}
	for i := 0; i < len(names); i += 20 {
		if answer, failed := c.call(first[fmt.Sprint(i)], `{}`); failed || !strings.Contains(fmt.Sprint(answer["outputs"]), fmt.Sprintf("id:w%d]", i)) {
			t.Errorf("%q: %v", names[i], answer)
		}
	}
	for edit := range 10 {
		names[edit] = fmt.Sprint("a new name of its own ", edit)
		offer(edit + 1)
		c.call("refresh_workflows", `{}`)
	}
	before := workflownames.Make(3, 300)
	same := map[string]int{}
	for _, name := range before {
		same[name]++
	}
	check := func(when string) {
		for i, name := range tools() {
			var n int
			_, _ = fmt.Sscan(i, &n)
			if n >= 10 && same[before[n]] == 1 && first[i] != name {
				t.Errorf("%s %q is called %q, not %q", when, before[n], name, first[i])
			}
		}
	}
	check("after the edits")
	_ = c.stdin.Close()
	_ = c.cmd.Wait()
	c, list = p.offering("--log-level=error")
	check("after the restart")
	_ = c.stdin.Close()
	_ = c.cmd.Wait()
}
