package fault

import (
	"encoding/json"
	"fmt"
	"testing"
)

func TestAFaultForToolsSaysNothingTwice(t *testing.T) {
	var errs []*Fault
	for i := range 3 {
		e := New(Validation, "error %d", i).Suggest("Did you mean %d?", i).Suggest("Look").Offer("x", []string{"a", "b"}).Detail("text", "line").Detail("mark", "^")
		e.File, e.Line, e.Column = "w.json", i+1, 1
		if i == 2 {
			e.Missing = []string{"m"}
			e.Detail("more", true)
		}
		errs = append(errs, e)
	}
	f := Join(Validation, "w", errs)
	f.Missing = append(f.Missing, "own")
	f.Address(Tools)
	got, err := json.Marshal(f)
	want := `{"type":"validation_error","message":"w: 3 errors","file":"w.json","missing":["own"],"errors":[` +
		`{"type":"validation_error","message":"error 0","line":1,"column":1,"suggestions":["Did you mean 0?","Look"],"available":["a","b"]},` +
		`{"type":"validation_error","message":"error 1","line":2,"column":1,"suggestions":["Did you mean 1?"]},` +
		`{"type":"validation_error","message":"error 2","line":3,"column":1,"missing":["m"],"suggestions":["Did you mean 2?"],"details":{"more":true}}]}`
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
}

func TestFilesThatDifferStayWithTheirErrors(t *testing.T) {
	f := Join(Validation, "w", []*Fault{{Type: Validation, Message: "a", File: "one"}, {Type: Validation, Message: "b", File: "two"}})
	f.Address(Tools)
	if f.File != "" || f.Errors[0].File != "one" || f.Errors[1].File != "two" {
		t.Errorf("%q %q %q", f.File, f.Errors[0].File, f.Errors[1].File)
	}
}

func TestOfferListsTheNearest(t *testing.T) {
	var names []string
	for i := range 10_000 {
		names = append(names, fmt.Sprintf("mcp-server-tool-%04d", i))
	}
	f := New(NotFound, "m").Offer("mcp-server-tool-7777x", names)
	if len(f.Available) != MaxAvailable || f.Available[0] != "mcp-server-tool-7777" || f.AvailableTotal != len(names) {
		t.Errorf("%q of %d", f.Available, f.AvailableTotal)
	}
	if few := New(NotFound, "m").Offer("b", []string{"c", "a", "b"}); fmt.Sprint(few.Available) != "[c a b]" || few.AvailableTotal != 0 {
		t.Errorf("%q of %d", few.Available, few.AvailableTotal)
	}
	if short := f.LimitBytes(1000); len(short.Available) == MaxAvailable && short.AvailableTotal == 0 {
		t.Errorf("%+v", short)
	}
	if none := New(NotFound, "m").Offer("b", nil); none.Available != nil {
		t.Errorf("%+v", none)
	}
}
