package suite

import (
	"strings"
	"testing"
)

// An error in a filter has its place in the file, both in a check and when the node runs.
func TestAWrongFilterIsFoundInItsFile(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("w.json", `{"nodes": [
  {"id": "j", "type": "jq", "params": {"args": {"name": 1}, "filter": "\"ü\" + $nme"}}
]}`)
	const want = "w.json:2:81: "
	for _, args := range [][]string{{"pflow-lib", "check", "w.json"}, {"pflow-exec", "run", "w.json"}} {
		o := p.run(args[0], args[1:]...)
		if o.exit == 0 || !strings.Contains(o.stderr, want) || !strings.Contains(o.stderr, "variable not defined: $nme") || !strings.Contains(o.stderr, "$name") {
			t.Errorf("%v: %s", args, o)
		}
	}
}
