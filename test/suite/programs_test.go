package suite

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tidwall/gjson"
)

// laundry is the program of a node type of this test. Its parameter do says what it does. It records each call in the file
// calls.
const laundry = `#!/bin/sh
if [ "$1" = --describe ]; then
	echo '{"interface":{"description":"Wash and iron things","params":[
		{"name":"do","type":"str","required":true},{"name":"degrees","type":"int","default":30}],
		"outputs":[{"name":"did","type":"str"},{"name":"degrees","type":"int"}],"actions":["default","shrunk"]}}'
	exit
fi
request=$(cat)
do=$(echo "$request" | sed 's/.*"do":"\([^"]*\)".*/\1/')
degrees=$(echo "$request" | sed 's/.*"degrees":\([0-9]*\).*/\1/')
echo "$PFLOW_NODE_ID $do $PFLOW_ATTEMPT" >>calls
case $do in
break) echo "the belt is torn" >&2; exit 2 ;;
busy)
	if [ "$PFLOW_ATTEMPT" -lt 3 ]; then
		echo '{"error":{"type":"unavailable","message":"another wash is in the drum","retryable":true}}'
		exit 1
	fi ;;
spin) sleep 1000 & echo $$ >spinning; wait ;;
once) [ -e done ] || { touch done; exit 1; } ;;
shrink) echo '{"$action":"shrunk","did":"shrink"}'; exit ;;
esac
echo "{\"did\":\"$do\",\"degrees\":$degrees}"
`

// newLaundry returns a place in which the program is a node type.
func newLaundry(t *testing.T) *place {
	t.Helper()
	t.Parallel()
	p := newPlace(t)
	if err := os.Chmod(p.write("home/nodes/pflow-node-laundry", laundry), 0o700); err != nil {
		t.Fatal(err)
	}
	if got := p.must("pflow-sync", "nodes"); gjson.Get(got, "added").Raw != `["laundry"]` {
		t.Fatal(got)
	}
	return p
}

// flow writes a workflow into the place and returns its path.
func (p *place) flow(name, nodes string) string { return p.write(name, `{"nodes":[`+nodes+`]}`) }

func TestAProgramIsANodeTypeLikeAnyOther(t *testing.T) {
	p := newLaundry(t)
	found := p.must("pflow-lib", "search", "iron")
	if n := gjson.Get(found, "nodes.0"); n.Get("type").Str != "laundry" || n.Get("inputs.1.default").Raw != "30" || n.Get("outputs.2.name").Str != "error" {
		t.Error(found)
	}
	wrong := p.run("pflow-lib", "check", p.flow("wrong.json", `{"id":"a","type":"laundry","params":{"degres":60,"do":"wash"}},
		{"id":"b","type":"laundry","params":{"degrees":"hot","do":"${a.done}"}},{"id":"c","type":"laundri","params":{}},{"id":"d","type":"tumble","params":{}}`))
	for _, want := range []string{`unknown parameter \"degres\"`, `Did you mean \"degrees\"?`, `text: \"hot\"`, `${a.did}`, `Did you mean \"laundry\"?`, `pflow-sync nodes`} {
		if wrong.exit != 2 || !strings.Contains(wrong.stdout, want) {
			t.Errorf("no %s in %s", want, wrong)
		}
	}
	flow := p.flow("good.json", `{"id":"wash","type":"laundry","params":{"do":"wash"}},{"id":"iron","type":"echo","params":{"message":"${wash.did} at ${wash.degrees}"}}`)
	if o := p.run("pflow-exec", "run", flow, "--dry-run"); o.exit != 0 || p.read("calls") != "" {
		t.Error(o)
	}
	if got := p.must("pflow-exec", "run", flow, "--format", "json"); gjson.Get(got, "outputs.iron.echo").Str != "wash at 30" {
		t.Error(got)
	}
	front := p.must("pflow-sync", "call", "--", filepath.Join(bin, "pflow-serve"), "--", "browse_components", "query=iron")
	if !strings.Contains(front, `"type":"laundry"`) {
		t.Error(front)
	}
}

func TestAProgramThatIsDoneIsNotRunAgain(t *testing.T) {
	p := newLaundry(t)
	flow := p.write("w.json", `{"nodes":[{"id":"wash","type":"laundry","params":{"do":"wash"}},{"id":"dry","type":"laundry","params":{"do":"once"}}],"edges":[{"from":"wash","to":"dry"}]}`)
	if o := p.run("pflow-exec", "run", flow); o.exit != 1 || !strings.Contains(o.stderr, "exit code 1") {
		t.Fatal(o)
	}
	p.must("pflow-exec", "resume", "last")
	if got := p.read("calls"); got != "wash wash 1\ndry once 1\ndry once 1\n" {
		t.Error(got)
	}
}

func TestAProgramIsTriedAgainAndItsFailureCanBeTaken(t *testing.T) {
	p := newLaundry(t)
	flow := p.write("w.json", `{"nodes":[
		{"id":"wash","type":"laundry","params":{"do":"busy"},"retry":{"max":3}},
		{"id":"iron","type":"laundry","params":{"do":"break"}},
		{"id":"tell","type":"echo","params":{"message":"${iron.error}"}}],
		"edges":[{"from":"wash","to":"iron"},{"from":"iron","to":"tell","action":"error"}]}`)
	o := p.run("pflow-exec", "run", flow)
	events := gjson.Get(o.stdout, "..#(event==node_failed)#.error")
	if n := events.Get("#").Int(); o.exit != 0 || n != 3 || !events.Get("0.retryable").Bool() || events.Get("0.type").Str != "unavailable" || events.Get("2.retryable").Bool() {
		t.Errorf("%d failures: %s\n%s", n, events.Raw, o)
	}
	if got := gjson.Get(o.stdout, "..#(event==run_finished).outputs.tell.echo").Str; !strings.HasPrefix(got, "pflow-node-laundry ") || !strings.HasSuffix(got, "exit code 2: the belt is torn") {
		t.Error(got, o)
	}
}

func TestAProgramChoosesItsEdgeAndRunsOverABatch(t *testing.T) {
	p := newLaundry(t)
	flow := p.write("w.json", `{"nodes":[
		{"id":"wash","type":"laundry","batch":{"items":["a","b","c"],"parallel":true},"params":{"do":"${item}"}},
		{"id":"hot","type":"laundry","params":{"do":"shrink"}},
		{"id":"small","type":"echo","params":{"message":"${wash.results[2].did} ${hot.did}"}},
		{"id":"fine","type":"echo"}],
		"edges":[{"from":"wash","to":"hot"},{"from":"hot","to":"small","action":"shrunk"},{"from":"hot","to":"fine"}]}`)
	got := p.must("pflow-exec", "run", flow, "--format", "json")
	if gjson.Get(got, "outputs.small.echo").Str != "c shrink" || gjson.Get(got, "outputs.fine").Exists() {
		t.Error(got)
	}
}

func TestNothingOfAProgramIsLeftWhenTheRunnerIsKilled(t *testing.T) {
	needsLinux(t, "the kernel ends the children of a killed process on Linux only")
	p := newLaundry(t)
	cmd := p.command("pflow-exec", "run", p.flow("w.json", `{"id":"wash","type":"laundry","params":{"do":"spin"}}`))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.eventually("it spins", func() bool { return strings.HasSuffix(p.read("spinning"), "\n") })
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	var pid int
	if _, err := fmt.Sscan(p.read("spinning"), &pid); err != nil {
		t.Fatal(err)
	}
	p.eventually("the program is gone", func() bool { return syscall.Kill(pid, 0) != nil })
	p.must("pflow-exec", "gc") // ends what the program itself has started
	p.nothingIsLeft()
}

// A program that may choose any action cannot pass on a secret as its action.
func TestAnActionIsNoWayForASecret(t *testing.T) {
	t.Parallel()
	const secret = "open-sesame-of-1001"
	p := newPlace(t)
	script := "#!/bin/sh\n" + `if [ "$1" = --describe ]; then
	echo '{"interface":{"description":"Choose","params":[{"name":"pin","type":"str"}],"outputs":[],"actions":["*"]}}'
	exit
fi
sed 's/.*"pin":\("[^"]*"\).*/{"$action":\1}/'
`
	if err := os.Chmod(p.write("home/nodes/pflow-node-choose", script), 0o700); err != nil {
		t.Fatal(err)
	}
	p.must("pflow-sync", "nodes")
	p.write("w.json", `{"inputs":{"pin":{"type":"string","secret":true}},"nodes":[{"id":"a","type":"choose","params":{"pin":"${pin}"}}]}`)
	o := p.run("pflow-exec", "run", "w.json", "pin="+secret)
	if o.exit != 0 || !strings.Contains(o.stdout, `"action":"<redacted>"`) {
		t.Errorf("%s", o)
	}
	h := p.look(secret)
	h.in("standard output", o.stdout)
	h.in("standard error", o.stderr)
	h.inHome()
}

// The outputs of a node are not reused if a default of its parameters has changed.
func TestAChangedDefaultIsAnotherNode(t *testing.T) {
	p := newLaundry(t)
	flow := p.flow("w.json", `{"id":"wash","type":"laundry","params":{"do":"wash"}},{"id":"last","type":"shell","params":{"command":"test -e ready"}}`)
	if o := p.run("pflow-exec", "run", flow); o.exit != 1 {
		t.Fatal(o)
	}
	p.write("ready", "")
	if err := os.Chmod(p.write("home/nodes/pflow-node-laundry", strings.Replace(laundry, `"default":30`, `"default":60`, 1)), 0o700); err != nil {
		t.Fatal(err)
	}
	p.must("pflow-sync", "nodes")
	o := p.run("pflow-exec", "run", flow, "--resume", "last")
	if o.exit != 0 || strings.Contains(o.stdout, "node_reused") || !strings.Contains(o.stdout, `"degrees":60`) {
		t.Errorf("%s", o)
	}
}
