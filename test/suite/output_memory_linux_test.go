package suite

import (
	"bytes"
	"cmp"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/internal/brief"
)

// measured runs a program with an address space of 4 GB. It returns what the program printed and the most memory that it had, in
// MiB.
func (p *place) measured(args ...string) (stdout string, mib int, err error) {
	p.Helper()
	needs(p.T, "python3")
	cmd := p.command("python3", append([]string{"-c", measure}, args...)...)
	var out, most bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &most
	err = cmd.Run()
	kilobytes := -1
	if words := strings.Fields(most.String()); len(words) > 0 {
		kilobytes, _ = strconv.Atoi(words[len(words)-1])
	}
	if kilobytes <= 0 {
		p.Fatalf("%v: the memory of %q is not known: %s", err, args, most.String())
	}
	p.Logf("at most %d MiB in memory", kilobytes>>10)
	return out.String(), kilobytes >> 10, err
}

// measure prints the most kilobytes that a program had in memory. The memory of the process that starts a program counts as the
// program's, so this one has little.
const measure = `import resource, subprocess, sys
limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
status = subprocess.run(sys.argv[1:], preexec_fn=limit, stderr=subprocess.DEVNULL).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
sys.exit(status)`

// Memory does not grow with the number of items that put out much at the same time, whichever way they do. Only pflow-exec runs
// with a limit of its address space, for Node does not start with one.
func TestMemoryOfParallelOutput(t *testing.T) {
	brief.Skip(t)
	needsLinux(t, "memory use is read from getrusage, in units of Linux")
	p := outputPlace(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `["%s"]`, strings.Repeat("x", 8_000_000))
	}))
	defer server.Close()
	for name, c := range map[string]struct {
		node, runtime string
		fails         bool
	}{
		"endless":      {node: `"type":"shell","params":{"command":"yes"}`, runtime: `{"max_output":"20MB"}`, fails: true},
		"with secrets": {node: `"type":"shell","params":{"command":"yes $SOME_TOKEN | head -c 8000000"}`},
		"newlines":     {node: `"type":"shell","params":{"command":"yes '' | head -c 8000000"}`},
		"code":         {node: `"type":"code","params":{"language":"python","code":"result: list = ['x' * 99] * 80000"}`},
		"http":         {node: `"type":"http","params":{"url":"` + server.URL + `"}`},
		"program":      {node: `"type":"give","params":{"n":8000000}`},
	} {
		t.Run(name, func(t *testing.T) {
			p := &place{T: t, dir: p.dir, home: p.home, env: append(p.env, "SOME_TOKEN=shibboleth-of-this-test")}
			file := p.write("parallel.json", `{"nodes":[{"id":"a",`+c.node+`,"batch":{"items":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20],"parallel":true,"max_concurrent":20,"error_handling":"continue"}}],
				"outputs":{"n":{"source":"${a.success_count}"}},"runtime":`+cmp.Or(c.runtime, "{}")+`}`)
			out, mib, err := p.measured("pflow-exec", "run", file, "--jobs", "20", "--quiet", "--format", "json")
			if c.fails != (err != nil) || c.fails && gjson.Get(out, "error.type").Str != "too_large" || !c.fails && gjson.Get(out, "outputs.n").Int() != 20 {
				t.Errorf("%v: %.1000s", err, out)
			}
			if mib > 200 {
				t.Errorf("it had %d MiB in memory", mib)
			}
		})
	}
}
