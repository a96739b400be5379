package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/engine"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
)

// echoEach returns a workflow with one batch that echoes its items.
func echoEach(batch string) string {
	return `{"nodes":[{"id":"each","type":"echo","params":{"message":"${__index__}:${item}","data":"${item}"},"batch":` + batch + `}]}`
}

func TestABatchGivesAResultForEachItem(t *testing.T) {
	for name, c := range map[string]struct{ items, want string }{
		"texts":         {`["a","b"]`, `["0:a","1:b"] ["a","b"]`},
		"with quotes":   {`["a \"b\" \\ 'c'","$(touch x) $y"]`, `["0:a \"b\" \\ 'c'","1:$(touch x) $y"] ["a \"b\" \\ 'c'","$(touch x) $y"]`},
		"objects":       {`[{"k":{"$blob":1}},[1,2]]`, `["0:{\"k\":{\"$blob\":1}}","1:[1,2]"] [{"k":{"$blob":1}},[1,2]]`},
		"null and bool": {`[null,true,0,""]`, `["0:","1:true","2:0","3:"] [null,true,0,""]`},
		"big numbers":   {`[12345678901234567890,1.10]`, `["0:12345678901234567890","1:1.10"] [12345678901234567890,1.10]`},
		"empty":         {`[]`, `[] []`},
	} {
		for _, parallel := range []string{"false", "true"} {
			t.Run(name+" "+parallel, func(t *testing.T) {
				p := newBench(t).play(t.Context(), echoEach(`{"items":`+c.items+`,"parallel":`+parallel+`}`))
				p.ended(t, event.Completed)
				if got := p.get("each.results.#.echo") + " " + p.get("each.results.#.item"); got != c.want {
					t.Errorf("got  %s\nwant %s", got, c.want)
				}
				if got := p.get("each.results.#.data"); got != strings.SplitN(c.want, "] [", 2)[0]+"]" && !strings.HasSuffix(c.want, got) {
					t.Errorf("data %s", got)
				}
			})
		}
	}
}

func TestWhatABatchSaysOfItself(t *testing.T) {
	p := newBench(t).play(t.Context(), echoEach(`{"items":[1,2,3],"parallel":true,"max_concurrent":2,"max_retries":4,"retry_wait":1.5}`))
	for path, want := range map[string]string{
		"count": "3", "success_count": "3", "error_count": "0", "errors": "[]", "batch_metadata.parallel": "true", "batch_metadata.max_concurrent": "2",
		"batch_metadata.max_retries": "4", "batch_metadata.retry_wait": "1.5", "batch_metadata.execution_mode": `"parallel"`,
	} {
		if got := p.get("each." + path); got != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
	p = newBench(t).play(t.Context(), echoEach(`{"items":[]}`))
	for path, want := range map[string]string{
		"count": "0", "batch_metadata.parallel": "false", "batch_metadata.max_concurrent": "null", "batch_metadata.retry_wait": "null",
		"batch_metadata.execution_mode": `"sequential"`, "batch_metadata.timing.min_item_ms": "0",
	} {
		if got := p.get("each." + path); got != want {
			t.Errorf("of an empty one %s is %s, want %s", path, got, want)
		}
	}
}

func TestWhereTheItemsOfABatchComeFrom(t *testing.T) {
	for name, c := range map[string]struct{ source, want string }{
		"a list":                     {`[1,{"a":2}]`, `[1,{"a":2}]`},
		"the JSON text of one":       {`" [1, {\"a\": 2}]\n"`, `[1,{"a":2}]`},
		"an object":                  {`{"a":1}`, "Batch items must be a list, got an object. Template '${src.data}' resolved to: {\"a\":1}"},
		"text":                       {`"hello"`, `Batch items must be a list, got text. Template '${src.data}' resolved to: "hello"`},
		"null":                       {`null`, "got null"},
		"a number":                   {`7`, "got a number"},
		"the JSON text of an object": {`"{\"a\":1}"`, "got an object"},
		"long text":                  {`"` + strings.Repeat("é", 200) + `"`, "…"},
	} {
		t.Run(name, func(t *testing.T) {
			def := `{"nodes":[{"id":"src","type":"echo","params":{"data":` + c.source + `}},
				{"id":"each","type":"echo","params":{"data":"${item}"},"batch":{"items":"${src.data}"}}]}`
			p := newBench(t).play(t.Context(), def)
			if c.want[0] == '[' {
				if got := p.get("each.results.#.data"); got != c.want {
					t.Errorf("got %s, %+v", got, p.last.Error)
				}
				return
			}
			p.failed(t, fault.Execution, c.want)
			if f := p.last.Error; f != nil && (f.Path != "batch.items" || f.Node != "each" || len(f.Suggestions) == 0 || strings.Contains(f.Message, "\ufffd")) {
				t.Errorf("%+v", f)
			}
		})
	}
}

func TestTheNamesOfABatch(t *testing.T) {
	def := `{"nodes":[{"id":"src","type":"echo","params":{"data":["x","y"]}},
		{"id":"first","type":"echo","params":{"message":"${file.name}"},"batch":{"items":[{"name":"a"},{"name":"b"}],"as":"file"}},
		{"id":"second","type":"echo","params":{"inputs":{"mine":"${file.name}!"},"message":"${mine} ${first.results[${__index__}].echo} ${src.data[${file.at}]}"},
			"batch":{"items":[{"name":"c","at":1},{"name":"d","at":0}],"as":"file"}}]}`
	p := newBench(t).play(t.Context(), def)
	if got := p.get("second.results.#.echo"); got != `["c! a y","d! b x"]` {
		t.Errorf("%s %+v", got, p.last.Error)
	}
}

// An item's own output is replaced if the results use its name.
func TestAResultHasEachKeyOnce(t *testing.T) {
	b := newBench(t)
	b.saved["sub"] = `{"inputs":{"x":{}},"nodes":[{"id":"n","type":"echo","params":{"data":"${x}"}}],"outputs":{"item":{"source":"${n.echo}"},"data":{"source":"${n.data}"}}}`
	p := b.play(t.Context(), `{"nodes":[{"id":"each","type":"workflow","params":{"workflow":"sub","inputs":{"x":"${item}"}},"batch":{"items":[7]}}]}`)
	if got := p.get("each.results"); got != `[{"data":7,"item":7,"original_index":0}]` {
		t.Errorf("%s %+v", got, p.last.Error)
	}
}

// A value that is too long for a line has its place among the results.
func TestLongOutputsOfItemsStandInTheResults(t *testing.T) {
	b := newBench(t)
	long := "[" + strings.Repeat(`"0123456789",`, 6000) + `"end"]`
	p := b.play(t.Context(), `{"nodes":[{"id":"each","type":"echo","params":{"data":{"n":"${item}","l":`+long+`}},"batch":{"items":[1,2]}},
		{"id":"after","type":"echo","params":{"message":"${each.results[1].item} ${each.results[1].data.l[6000]}"}}]}`)
	p.ended(t, event.Completed)
	if got := p.get("after.echo"); got != `"2 end"` {
		t.Errorf("%s", got)
	}
	for _, line := range p.lines[1:] {
		if len(line) > 2*event.InlineLimit {
			t.Errorf("a line of %d bytes", len(line))
		}
	}
}

func TestItemsRunAtTheSameTimeButNeverMoreThanMayBe(t *testing.T) {
	s, b := newService(t), newBench(t)
	m := newMeeting(3)
	s.answer = func(_ string, _ int, gone <-chan struct{}) (int, string) {
		attend(m, gone)
		return http.StatusOK, "{}"
	}
	p := b.play(t.Context(), `{"nodes":[`+s.node("each", "${item}", `,"batch":{"items":[1,2,3,4,5,6,7,8,9,10,11,12],"parallel":true,"max_concurrent":3}`)+`]}`,
		func(c *engine.Config) { c.Jobs = 1 })
	p.ended(t, event.Completed)
	if m.peak != 3 || len(s.calls) != 12 {
		t.Errorf("%d at once, %d calls", m.peak, len(s.calls))
	}
}

func TestASequentialBatchKeepsItsOrder(t *testing.T) {
	s, b := newService(t), newBench(t)
	m := newMeeting(1)
	s.answer = func(_ string, _ int, gone <-chan struct{}) (int, string) {
		attend(m, gone)
		return http.StatusOK, "{}"
	}
	b.play(t.Context(), `{"nodes":[`+s.node("each", "${item}", `,"batch":{"items":["c","a","b"]}`)+`]}`).ended(t, event.Completed)
	if got := strings.Join(s.calls, " "); got != "c a b" || m.peak != 1 {
		t.Errorf("%s, %d at once", got, m.peak)
	}
}

// The results have the order of the list, whatever order the items end in.
func TestResultsHaveTheOrderOfTheItems(t *testing.T) {
	s, b := newService(t), newBench(t)
	ended := []chan struct{}{make(chan struct{}), make(chan struct{}), make(chan struct{}), make(chan struct{})}
	close(ended[3])
	s.answer = func(path string, _ int, gone <-chan struct{}) (int, string) {
		i := int(path[0] - '0')
		select {
		case <-ended[i+1]: // the next one ends first
		case <-gone:
		}
		close(ended[i])
		return http.StatusOK, `"` + path + `"`
	}
	p := b.play(t.Context(), `{"nodes":[`+s.node("each", "${item}", `,"batch":{"items":[0,1,2],"parallel":true}`)+`]}`)
	if got := p.get("each.results.#.response"); got != `["0","1","2"]` {
		t.Errorf("%s %+v", got, p.last.Error)
	}
}

func TestABatchOfThousandsIsLinear(t *testing.T) {
	const n = 2000
	items := make([]string, n)
	for i := range items {
		items[i] = fmt.Sprintf(`{"n":%d}`, i)
	}
	for _, parallel := range []string{"", `,"parallel":true`} {
		p := newBench(t).play(t.Context(), echoEach(`{"items":[`+strings.Join(items, ",")+`]`+parallel+`}`))
		p.ended(t, event.Completed)
		if got := p.get("each.results.1999.data.n"); got != "1999" || len(p.of(event.ItemCompleted)) != n {
			t.Errorf("%s, %d items", got, len(p.of(event.ItemCompleted)))
		}
		size := 0
		for _, line := range p.lines {
			size += len(line)
		}
		if size > 1000*n {
			t.Errorf("a journal of %d bytes", size)
		}
	}
}

func TestABatchOfSubWorkflows(t *testing.T) {
	s, b := failing(t), newBench(t)
	b.saved["sub"] = `{"inputs":{"x":{"type":"string"}},"nodes":[` + s.node("call", "${x}", "") + `,{"id":"n","type":"echo","params":{"message":"<${call.response}>"}}],"outputs":{"y":{"source":"${n.echo}"}}}`
	def := func(batch string) string {
		return `{"nodes":[{"id":"each","type":"workflow","params":{"workflow":"sub","inputs":{"x":"${item}"}},"batch":` + batch + `}]}`
	}
	p := b.play(t.Context(), def(`{"items":["a","b"],"parallel":true}`), func(c *engine.Config) { c.Jobs = 1 })
	p.ended(t, event.Completed)
	if got := p.get("each.results"); got != `[{"y":"<a>","item":"a","original_index":0},{"y":"<b>","item":"b","original_index":1}]` {
		t.Errorf("%s", got)
	}
	if got := p.nodes(event.NodeCompleted); got != "each each[0]/call each[0]/n each[1]/call each[1]/n" {
		t.Errorf("nodes %s", got)
	}
	p = b.play(t.Context(), def(`{"items":["a","bad"],"error_handling":"continue"}`))
	p.ended(t, event.Degraded)
	if got := p.get("each.errors.0.error"); !strings.Contains(got, `The workflow \"sub\" failed at its node \"call\"`) || p.get("each.results.0.y") != `"<a>"` {
		t.Errorf("%s", p.get("each"))
	}
}

// A run that is cancelled while items run ends, records which items were done, and can be resumed.
func TestABatchIsCancelledInTheMiddle(t *testing.T) {
	const batch = `,"batch":{"items":["1","2","3","4","5","6"],"parallel":true,"max_concurrent":3}`
	for _, sub := range []bool{false, true} {
		t.Run(fmt.Sprint(sub), func(t *testing.T) {
			s, b := newService(t), newBench(t)
			ctx, cancel := context.WithCancelCause(t.Context())
			var held atomic.Int32
			s.answer = func(path string, n int, gone <-chan struct{}) (int, string) {
				if path >= "3" && path <= "5" && n == 1 {
					if held.Add(1) == 3 {
						cancel(errors.New("enough"))
					}
					<-gone
				}
				return http.StatusOK, `"` + path + `"`
			}
			node := s.node("each", "${item}", batch)
			if sub {
				b.saved["sub"] = `{"inputs":{"x":{}},"nodes":[` + s.node("call", "${x}", "") + `,{"id":"n","type":"echo","params":{"data":"${call.response}"}}],"outputs":{"response":{"source":"${n.data}"}}}`
				node = `{"id":"each","type":"workflow","params":{"workflow":"sub","inputs":{"x":"${item}"}}` + batch + `}`
			}
			def := `{"nodes":[` + node + `,{"id":"after","type":"echo","params":{"data":"${each.results}"}}]}`
			first := b.play(ctx, def)
			first.ended(t, event.Cancelled)
			cancelled := " " + first.nodes(event.NodeCancelled) + " "
			if !strings.Contains(cancelled, " after ") || strings.Count(cancelled, " each ") != 1 || sub && !strings.Contains(cancelled, " each[2]/call each[2]/n ") {
				t.Errorf("cancelled%s", cancelled)
			}
			if n := len(first.of(event.ItemCompleted)); n != 2 {
				t.Errorf("%d items were done", n)
			}
			second := b.play(t.Context(), def, first.whole(b))
			second.ended(t, event.Completed)
			if got := strings.Join(s.called(), " "); got != "1 2 3 3 4 4 5 5 6" {
				t.Errorf("called %s", got)
			}
			if got := second.get("after.data.#.response"); got != `["1","2","3","4","5","6"]` {
				t.Errorf("%s", got)
			}
			third := b.play(t.Context(), def, second.whole(b))
			if *third.last.NodesExecuted != 0 || third.get("after.data") != second.get("after.data") {
				t.Errorf("%d executed, %s", *third.last.NodesExecuted, third.get("after.data"))
			}
		})
	}
}

// The outputs of items are not held in memory. They go from the journal into the results, in the order of the list, whatever
// order the items ended in.
func TestTheResultsOfManyItemsAreALongValue(t *testing.T) {
	b := newBench(t)
	long := strings.Repeat("x", 1000)
	p := b.play(t.Context(), `{"nodes":[{"id":"each","type":"echo","params":{"message":"${item}`+long+`"},
		"batch":{"items":`+list(100)+`,"parallel":true,"max_concurrent":4}},{"id":"n","type":"echo","params":{"data":"${each.count}","message":"${each.results[99].echo}"}}],
		"outputs":{"all":{"source":"${each.results}"},"last":{"source":"${each.results[99].item}"},"n":{"source":"${n.data}"}}}`)
	p.ended(t, event.Completed)
	ref, ok := event.ReferenceOf(json.RawMessage(gjson.GetBytes(p.last.Outputs, "all").Raw))
	if !ok || !ref.JSON() || gjson.GetBytes(p.last.Outputs, "last").Raw != "99" || gjson.GetBytes(p.last.Outputs, "n").Raw != "100" {
		t.Fatalf("%s", p.last.Outputs)
	}
	all, err := event.Plain(p.last.Outputs, p.rec.Blob)
	if err != nil || gjson.GetBytes(all, "all.#").Int() != 100 || gjson.GetBytes(all, "all.42.item").Int() != 42 || gjson.GetBytes(all, "all.42.echo").Str != "42"+long {
		t.Errorf("%.300s %v", all, err)
	}
}

// list returns a JSON list of the first n numbers.
func list(n int) string {
	var numbers []string
	for i := range n {
		numbers = append(numbers, strconv.Itoa(i))
	}
	return "[" + strings.Join(numbers, ",") + "]"
}
