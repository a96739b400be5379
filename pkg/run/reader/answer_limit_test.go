//go:build !race

package reader

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

func TestAnAnswerIsLimited(t *testing.T) {
	numbers := "[" + strings.Repeat("123456789,", 10_000) + "1]"
	ids := make([]string, 10_000)
	for i := range ids {
		ids[i] = fmt.Sprintf("node-%d", i)
	}
	long := fault.New(fault.Execution, "%s", strings.Repeat("it failed; ", 2000)).Suggest("Mend it").Detail("stderr", strings.Repeat("e", 4096))
	long.Node = "node-9999"
	several := fault.New(fault.Validation, "61 errors")
	for range 61 {
		several.Errors = append(several.Errors, fault.New(fault.Validation, "%s", strings.Repeat("m", 900)))
	}
	for name, c := range map[string]struct {
		last *event.Event
		// inline are outputs that must stay, links are those that must be placeholders. At least shown outputs are there.
		inline, links []string
		shown         int
	}{
		"thousands of outputs": {last: &event.Event{Status: event.Completed, Outputs: object(5000, func(i int) string { return fmt.Sprintf(`"k%d":%d`, i, i) })}, inline: []string{"k0", "k1"}, shown: 300},
		"a huge list":          {last: &event.Event{Status: event.Completed, Outputs: json.RawMessage(`{"n":1,"list":` + numbers + `,"s":"short"}`)}, inline: []string{"n", "s"}, links: []string{"list"}, shown: 3},
		"a huge object":        {last: &event.Event{Status: event.Completed, Outputs: json.RawMessage(`{"all":{"$$x":` + numbers + `},"$$y":` + numbers + `}`)}, links: []string{"all", "$y"}, shown: 2},
		"many texts": {last: &event.Event{Status: event.Completed, Outputs: object(20, func(i int) string {
			return fmt.Sprintf(`"text%d":%q`, i, strings.Repeat("é", 1900))
		})}, links: []string{"text0"}, shown: 20},
		"hundreds of texts": {last: &event.Event{Status: event.Completed, Outputs: object(500, func(i int) string {
			return fmt.Sprintf(`"text%d":%q`, i, strings.Repeat("x", 5000))
		})}, links: []string{"text0"}, shown: 20},
		"texts in a list": {last: &event.Event{Status: event.Completed, Outputs: json.RawMessage(`{"list":["` + strings.Repeat(strings.Repeat("x", 3000)+`","`, 50) + `"],"n":1}`)}, inline: []string{"n"}, links: []string{"list"}, shown: 2},
		"many nodes, a long fault": {last: &event.Event{Status: event.Failed, Outputs: json.RawMessage(`{"list":` + numbers + `}`), Error: long, Warnings: slices.Repeat([]string{strings.Repeat("w", 500)}, 100),
			Checkpoint: &event.Checkpoint{CompletedNodes: ids, FailedNode: "node-9999"}}, links: []string{"list"}, shown: 1},
		"many errors": {last: &event.Event{Status: event.Failed, Outputs: json.RawMessage(`{}`), Error: several, Checkpoint: &event.Checkpoint{CompletedNodes: ids[:3], FailedNode: "x"}}},
	} {
		for _, most := range []int{8192, 4096} {
			for _, reader := range []fault.Reader{fault.Shell, fault.Tools} {
				r := newRuns(t)
				run := r.find(r.record("w", finished(c.last.Status)))
				last := *c.last
				last.Run = run.ID()
				if last.Checkpoint != nil {
					last.Checkpoint.RunID = run.ID()
				}
				a, err := run.Answer(&last, 2000)
				if err != nil {
					t.Fatal(err)
				}
				if err := a.Limit(reader, most); err != nil {
					t.Fatal(err)
				}
				raw, err := rawjson.Marshal(a)
				got := gjson.ParseBytes(raw)
				if err != nil || !json.Valid(raw) || len(raw) > most {
					t.Errorf("%s: %d bytes of %d: %v", name, len(raw), most, err)
				}
				if got.Get("run_id").Str != run.ID() || got.Get("status").Str != string(c.last.Status) {
					t.Errorf("%s: %s", name, raw)
				}
				outputs, n := got.Get("outputs").Map(), len(gjson.ParseBytes(c.last.Outputs).Map())
				if total := int(got.Get("outputs_total").Int()); len(outputs) < c.shown*most/8192 || len(outputs) < n && (total != n || got.Get("next").Str == "") {
					t.Errorf("%s: %d of %d outputs, outputs_total %d, %s", name, len(outputs), n, total, got.Get("next"))
				}
				for _, key := range c.inline {
					if outputs[key].Raw != gjson.GetBytes(c.last.Outputs, key).Raw {
						t.Errorf("%s: %s is %s", name, key, outputs[key])
					}
				}
				for _, key := range c.links {
					plain, _ := event.Part(c.last.Outputs, key, nil)
					value := gjson.ParseBytes(plain).Map()[key]
					content := value.Raw
					if value.Type == gjson.String {
						content = value.Str
					}
					if o := outputs[key]; o.Get(`$blob`).Str != event.Digest([]byte(content)) || int(o.Get("bytes").Int()) != len(content) || o.Get("uri").Str != event.OutputURI(run.ID(), key) {
						t.Errorf("%s: %s is %.300s", name, key, o)
					}
				}
				if c.last.Error == nil {
					continue
				}
				if e := got.Get("error"); e.Get("type").Str != string(c.last.Error.Type) || e.Get("message").Str == "" || e.Get("node").Str != c.last.Error.Node {
					t.Errorf("%s: the fault is %s", name, e)
				}
				k, all := got.Get("checkpoint"), len(c.last.Checkpoint.CompletedNodes)
				if shown := len(k.Get("completed_nodes").Array()); k.Get("failed_node").Str != c.last.Checkpoint.FailedNode || k.Get("run_id").Str != run.ID() ||
					shown < 3 || shown < all && int(k.Get("completed_total").Int()) != all {
					t.Errorf("%s: the checkpoint is %s", name, k)
				}
				if c.last.Warnings != nil && (len(got.Get("warnings").Array()) != 10 || got.Get("warnings_total").Int() != 100) {
					t.Errorf("%s: the warnings are %s", name, got.Get("warnings"))
				}
			}
		}
	}
}
