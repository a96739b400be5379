package suite

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// The long output of a node becomes the standard input of another, or a file, without being held in memory.
func TestMemoryOfLongInputs(t *testing.T) {
	needsLinux(t, "memory use is read from getrusage, in units of Linux")
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

// A node that reads a long output is the same node in a run that resumes the first, also if the output has a secret.
func TestLongInputs(t *testing.T) {
	t.Parallel()
	const secret = "s3cr3t-in-a-long-input"
	for _, runner := range []string{"local", "far"} {
		p := newPlace(t)
		p.runner("far", distant())
		p.env = append(p.env, "api_key="+secret)
		p.write("w.json", `{"inputs":{"api_key":{"type":"string","secret":true}},"nodes":[
			{"id":"plain","type":"shell","params":{"command":"yes 'é \"x\"' | head -c 3000000; printf 'e\\ne'"}},
			{"id":"secret","type":"shell","params":{"command":"yes 'some lines' | head -c 3000000; echo ${api_key}; yes | head -c 3000000"}},
			{"id":"plain-reader","type":"shell","runs_on":"`+runner+`","params":{"command":"tee plain | sha256sum; echo ran >> ran","stdin":"${plain.stdout}"}},
			{"id":"secret-reader","type":"shell","runs_on":"`+runner+`","params":{"command":"grep -c ${api_key} > found; echo ran >> ran","stdin":"${secret.stdout}"}},
			{"id":"items","type":"shell","runs_on":"`+runner+`","batch":{"items":["plain","secret"]},"params":{"command":"echo ${item} >> ran; wc -c","stdin":"${plain.stdout}"}},
			{"id":"writer","type":"write-file","runs_on":"`+runner+`","params":{"file_path":"copy","content":"${plain.stdout}"}},
			{"id":"last","type":"shell","params":{"command":"test -e go"}}],
			"edges":[{"from":"plain","to":"plain-reader"},{"from":"plain","to":"items"},{"from":"plain","to":"writer"},{"from":"secret","to":"secret-reader"},
			{"from":"plain-reader","to":"last"},{"from":"items","to":"last"},{"from":"writer","to":"last"},{"from":"secret-reader","to":"last"}]}`)
		p.run("pflow-exec", "run", "w.json", "--quiet")
		first := p.read("ran")
		if n := strings.Count(first, "\n"); n != 4 || p.read("copy") != p.read("plain") || !strings.HasSuffix(p.read("copy"), "e\ne") {
			t.Errorf("%s: %d, %q, %d bytes in place of %d", runner, n, first, len(p.read("copy")), len(p.read("plain")))
		}
		p.write("go", "")
		d := gjson.Parse(p.must("pflow-exec", "resume", "last", "--format", "json"))
		if d.Get("status").Str != "completed" || p.read("ran") != first {
			t.Errorf("%s: the nodes have run again: %q, %s", runner, p.read("ran"), d.Raw)
		}
		if got := p.read("found"); strings.TrimSpace(got) != "1" {
			t.Errorf("%s: the secret was found in %q lines", runner, got)
		}
	}
}
