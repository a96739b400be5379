package suite

import (
	"strings"
	"testing"
)

// What is wrong with a filter is told with its place in the file: by the check beforehand, and when the node runs.
func TestAWrongFilterIsFoundInItsFile(t *testing.T) {
	p := newPlace(t)
	p.write("w.json", `{"nodes": [
  {"id": "j", "type": "jq", "params": {"args": {"name": 1}, "filter": "\"ü\" + $nme"}}
]}`)
	const want = "w.json:2:81: "
	for _, args := range [][]string{{"pflow-lib", "check", "w.json"}, {"pflow-exec", "run", "w.json"}} {
		o := p.run(args[0], args[1:]...)
		if o.exit == 0 || !strings.Contains(o.stderr, want) || !strings.Contains(o.stderr, "variable not defined: $nme") || !strings.Contains(o.stderr, "Did you mean $name?") {
			t.Errorf("%v: %s", args, o)
		}
	}
}
