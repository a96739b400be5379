package suite

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/internal/brief"
)

// An output of any length is held in memory on neither side of a runner.
func TestMemoryOfARunner(t *testing.T) {
	brief.Skip(t)
	t.Parallel()
	p := newPlace(t)
	p.write("measure.py", measure)
	p.runner("far", "exec env -i PATH=\"$PATH\" python3 measure.py "+filepath.Join(bin, "pflow-exec")+" node 2>far\n")
	p.write("w.json", `{"runs_on":"far","runtime":{"max_output":"1GiB"},"nodes":[{"id":"a","type":"shell","params":{"command":"yes abcdefghijklmno | head -c 100000000"}}]}`)
	out, near, err := p.measured("pflow-exec", "run", "w.json", "--format", "json")
	if stdout := gjson.Get(out, "outputs.a.stdout"); err != nil || stdout.Get("bytes").Int() != 99_999_999 {
		t.Errorf("%v: %.1000s", err, out)
	}
	far, err := strconv.Atoi(strings.TrimSpace(p.read("far")))
	if err != nil || far <= 0 {
		t.Fatalf("the memory of the other side is not known: %q", p.read("far"))
	}
	t.Logf("the other side had at most %d MiB in memory", far>>10)
	if far >>= 10; near > 90 || far > 90 {
		t.Errorf("this side had %d MiB in memory, the other %d MiB", near, far)
	}
}
