package suite

import (
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

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
