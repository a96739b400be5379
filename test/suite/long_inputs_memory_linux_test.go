package suite

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/internal/brief"
)

// The long output of a node becomes the standard input of another, or a file, without being held in memory.
func TestMemoryOfLongInputs(t *testing.T) {
	brief.Skip(t)
	for name, c := range map[string]string{
		"stdin": `"type":"shell","params":{"command":"wc -c > size","stdin":"${a.stdout}"}`,
		"file":  `"type":"write-file","params":{"file_path":"written","content":"${a.stdout}"}`,
	} {
		for _, runner := range []string{"local", "far"} {
			t.Run(name+" "+runner, func(t *testing.T) {
				p := newPlace(t)
				p.write("measure.py", measure)
				p.runner("far", "exec env -i PATH=\"$PATH\" python3 measure.py "+filepath.Join(bin, "pflow-exec")+" node 2>far\n")
				p.write("w.json", `{"runtime":{"max_output":"1GiB"},"nodes":[
					{"id":"a","type":"shell","params":{"command":"yes abcdefghijklmno | head -c 100000000"}},
					{"id":"b","runs_on":"`+runner+`",`+c+`},
					{"id":"c","type":"shell","params":{"command":"cat size || wc -c < written"}}],"edges":[{"from":"a","to":"b"},{"from":"b","to":"c"}]}`)
				out, near, err := p.measured("pflow-exec", "run", "w.json", "--format", "json", "--print", "c.stdout")
				if err != nil || strings.TrimSpace(out) != "99999999" {
					t.Errorf("%v: %.1000s", err, out)
				}
				far := 0
				if runner != "local" {
					if far, err = strconv.Atoi(strings.TrimSpace(p.read("far"))); err != nil || far <= 0 {
						t.Fatalf("the memory of the other side is not known: %q", p.read("far"))
					}
				}
				if far >>= 10; near > 90 || far > 90 {
					t.Errorf("this side had %d MiB in memory, the other %d MiB", near, far)
				}
			})
		}
	}
}
