package suite

import (
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// A flag that has the name of an input is not silently taken: --dir=/tmp may be meant as dir=/tmp.
func TestAFlagIsNotTakenForAnInput(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("w.json", `{"inputs":{"dir":{"type":"string","default":"."}},"nodes":[{"id":"a","type":"shell","params":{"command":"printf '%s' \"${dir}\""}}],"outputs":{"dir":{"source":"${a.stdout}"}}}`)
	p.write("in/x", "")
	p.write("inputs.json", `{}`)
	for _, line := range []string{"run w.json --dir=in", "run --dir in w.json", "start w.json --dir=in", "run w.json --dir=in --dry-run"} {
		o := p.run("pflow-exec", append(strings.Fields(line), "--format", "json")...)
		if d := gjson.Parse(o.stdout); o.exit != 2 || d.Get("error.type").Str != "usage_error" || !strings.Contains(d.Get("error.suggestions").Raw, "dir=VALUE") {
			t.Errorf("%s: %s", line, o)
		}
	}
	if list := p.must("pflow-exec", "list"); list != "" {
		t.Errorf("something has run: %s", list)
	}
	for _, c := range []struct{ line, want string }{
		{"run w.json dir=in", "in"},
		{"run w.json -C in", "."},
		{"run w.json --dir in --inputs inputs.json", "."},
		{"run w.json --dir in dir=x", "x"},
		{"resume last --dir in", "x"}, // its inputs are those of the run
	} {
		o := p.run("pflow-exec", append(strings.Fields(c.line), "--format", "json")...)
		if got := gjson.Get(o.stdout, "outputs.dir").Str; o.exit != 0 || got != c.want {
			t.Errorf("%s: %s", c.line, o)
		}
	}
}
