package plan

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/workflow"
)

// uses lists the references of a node as PATH=REFERENCE, one with ? where there are other values to try.
func uses(n *workflow.Node) string {
	list, bad := Uses(n)
	var got []string
	for _, u := range list {
		optional := ""
		if u.Optional {
			optional = "?"
		}
		got = append(got, u.Path+"="+u.Ref.Expression()+optional)
	}
	for _, u := range bad {
		got = append(got, u.Path+" is none")
	}
	return strings.Join(got, " ")
}

func TestUses(t *testing.T) {
	batch := &workflow.Batch{As: "item", Items: json.RawMessage(`"${list.of}"`)}
	for name, c := range map[string]struct {
		node workflow.Node
		want string
	}{
		"parameters":          {workflow.Node{Params: json.RawMessage(`{"a":"${x.y} ${q ?? r.s}","l":[{"b":"${l[${i}]}"}],"e":"${"}`)}, "params.a=x.y params.a=q? params.a=r.s? params.l[0].b=l[${i}] params.l[0].b=i params.e is none"},
		"a list":              {workflow.Node{Params: json.RawMessage(`["${x}"]`)}, "params[0]=x"},
		"inputs hide":         {workflow.Node{Params: json.RawMessage(`{"a":"${x} ${own}","inputs":{"own":"${own}","o2":"${own.k}"}}`)}, "params.a=x params.inputs.own=own params.inputs.o2=own.k"},
		"the item hides":      {workflow.Node{Params: json.RawMessage(`{"a":"${item.z} ${__index__}","inputs":{"b":"${item}"}}`), Batch: batch}, "batch.items=list.of"},
		"but not in its list": {workflow.Node{Params: json.RawMessage(`{}`), Batch: &workflow.Batch{As: "item", Items: json.RawMessage(`"${item}"`)}}, "batch.items=item"},
		"a loop": {workflow.Node{Params: json.RawMessage(`{"a":"${n.x} ${__iteration__}","inputs":{"c":"${f}"}}`), Loop: &workflow.Loop{While: "${n.more}", Carry: map[string]json.RawMessage{"c": json.RawMessage(`["${c}","${m}"]`)}}},
			"params.a=n.x params.inputs.c=f loop.while=n.more loop.carry.c[1]=m"},
		"until":           {workflow.Node{Params: json.RawMessage(`{}`), Loop: &workflow.Loop{Until: "${n.done}"}}, "loop.until=n.done"},
		"an approval":     {workflow.Node{Params: json.RawMessage(`{"a":"${__answer__}"}`), Approval: &workflow.Approval{Question: "${who}?"}}, "approval.question=who"},
		"a sub-workflow":  {workflow.Node{Type: workflow.SubType, Params: json.RawMessage(`{"workflow":{"nodes":[{"id":"a","params":{"m":"${x}"}}]},"inputs":{"y":"${y}"}}`)}, "params.inputs.y=y"},
		"upstream's word": {workflow.Node{Type: workflow.SubType, Params: json.RawMessage(`{"workflow_ir":{"a":"${x}"},"param_mapping":{"y":"${y}"}}`)}, "params.param_mapping.y=y"},
		"by a template":   {workflow.Node{Type: workflow.SubType, Params: json.RawMessage(`{"workflow":"${which}"}`)}, "params.workflow=which"},
	} {
		if got := uses(&c.node); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.want)
		}
	}
}

func TestLocals(t *testing.T) {
	n := &workflow.Node{
		Params: json.RawMessage(`{"inputs":{"b":1,"a":2}}`), Batch: &workflow.Batch{As: "file"}, Loop: &workflow.Loop{}, Approval: &workflow.Approval{},
	}
	if got := fmt.Sprint(Locals(n)); got != "[b a file __index__ __iteration__ __answer__]" {
		t.Errorf("%s", got)
	}
	if got := Inputs(&workflow.Node{Params: json.RawMessage(`{"inputs":"${x}"}`)}); got != nil {
		t.Errorf("%v", got)
	}
}

// That a node with a loop reads itself orders nothing; an input of a node's name is the input.
func TestReadingsThatOrderNothing(t *testing.T) {
	w := flow("a<a", "b<a")
	if _, err := New(w); err == nil {
		t.Error("a node that reads itself has no fault")
	}
	w.Nodes[0].Loop = &workflow.Loop{While: "${a.x}", MaxIterations: json.RawMessage("2")}
	p, err := New(w)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(p.Order(), p.Sources("a"), p.Sources("b")); got != "[a b] [] [a]" {
		t.Errorf("%s", got)
	}
	w = flow("a", "b")
	w.Nodes[0].Loop = &workflow.Loop{While: "true", MaxIterations: json.RawMessage(`"${b.n}"`)} // the limit of a loop is read before it
	if p, err = New(w); err != nil || fmt.Sprint(p.Order(), p.Sources("a")) != "[b a] [b]" {
		t.Errorf("%v %v", err, p)
	}
	w = flow("b<a")
	w.Inputs = map[string]workflow.Input{"a": {}}
	if p, _ = New(w); len(p.Sources("b")) != 0 {
		t.Errorf("sources %v", p.Sources("b"))
	}
}
