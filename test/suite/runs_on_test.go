package suite

import (
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/internal/brief"
)

// runner writes a runner for the settings: a shell script.
func (p *place) runner(name, script string) {
	p.Helper()
	path := p.write(name+".sh", "#!/bin/sh\n"+script)
	if err := os.Chmod(path, 0o700); err != nil { //nolint:gosec // it is a program
		p.Fatal(err)
	}
	p.must("pflow-lib", "settings", "set", "runners."+name, path)
}

// distant is a script that executes an attempt without the environment of its caller.
func distant() string { return "exec env -i " + filepath.Join(bin, "pflow-exec") + " node\n" }

func TestANodeRunsOnItsRunner(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.runner("far", "echo far >> runners.txt\n"+distant())
	p.runner("other", "echo other >> runners.txt\n"+distant())
	p.write("sub.json", `{"nodes":[{"id":"in","type":"shell","params":{"command":"echo inner"}}]}`)
	p.write("w.json", `{"runs_on":"far","nodes":[
		{"id":"a","type":"shell","params":{"command":"head -c 300000 /dev/zero | tr '\\0' x; echo said >&2"}},
		{"id":"b","type":"shell","runs_on":"other","params":{"command":"printf '\\377\\376'"}},
		{"id":"c","type":"shell","runs_on":"local","params":{"command":"wc -c","stdin":"${a.stdout}"}},
		{"id":"d","type":"workflow","runs_on":"other","params":{"workflow":"sub.json"}}],
		"edges":[{"from":"a","to":"b"},{"from":"b","to":"c"},{"from":"c","to":"d"}]}`)
	events := p.events(p.must("pflow-exec", "run", "w.json"))
	got := map[string]any{}
	for _, e := range events {
		if e["event"] == "node_started" {
			got[e["node"].(string)] = e["runs_on"]
		}
	}
	if want := map[string]any{"a": "far", "b": "other", "c": nil, "d": nil, "d/in": "other"}; !reflect.DeepEqual(got, want) {
		t.Errorf("the nodes run on %v, want %v", got, want)
	}
	if got := p.read("runners.txt"); got != "far\nother\nother\n" {
		t.Errorf("the runners were %q", got)
	}
	shown := gjson.Parse(p.must("pflow-exec", "show", "last"))
	if n := shown.Get("nodes.0"); n.Get("runs_on").Str != "far" || n.Get("outputs.stdout.bytes").Num != 300000 || n.Get("outputs.stderr").Str != "said\n" {
		t.Errorf("%s", n.Raw)
	}
	if n := shown.Get("nodes.1"); n.Get("outputs.stdout").Str != "//4=" || !n.Get("outputs.stdout_is_binary").Bool() {
		t.Errorf("%s", n.Raw)
	}
	if n := shown.Get("nodes.2"); strings.TrimSpace(n.Get("outputs.stdout").Str) != "300000" {
		t.Errorf("%s", n.Raw)
	}
	if log := p.must("pflow-exec", "logs", "last", "a", "--stream", "stderr"); gjson.Get(log, "text").Str != "said\n" {
		t.Errorf("%s", log)
	}
	if page := p.must("pflow-exec", "report", "last"); !strings.Contains(page, "Runs on") || !strings.Contains(page, "on far") {
		t.Error("the report does not name the runner")
	}
	for _, args := range [][]string{{"pflow-exec", "show", "last", "--format", "text"}, {"pflow-exec", "show", "last", "a", "--format", "text"}, {"pflow-lib", "graph", "w.json"}} {
		if text := p.must(args[0], args[1:]...); !strings.Contains(text, "on far") {
			t.Errorf("%q does not name the runner: %s", args, text)
		}
	}
	p.write("home/library/away.json", `{"runs_on":"far","nodes":[{"id":"a","type":"echo"}]}`)
	c, _ := p.offering("--log-level=info")
	c.call("away", `{}`)
	_ = c.stdin.Close()
	_ = c.cmd.Wait()
	if log := c.stderr.String(); !strings.Contains(log, "event=node_started node=a runs_on=far") {
		t.Errorf("the log of pflow-serve does not name the runner: %s", log)
	}
	p.write("w.json", `{"runs_on":"fra","nodes":[{"id":"a","type":"echo","runs_on":"othr"}]}`)
	for _, program := range []string{"pflow-lib check", "pflow-exec run"} {
		args := append(strings.Fields(program)[1:], "w.json", "--format", "json")
		d := gjson.Parse(p.run(strings.Fields(program)[0], args...).stdout)
		if paths := d.Get("error.errors.#.path").Raw; paths != `["runs_on","nodes[0].runs_on"]` || d.Get("error.errors.0.available").Raw != `["far","local","other"]` {
			t.Errorf("%s: %s", program, d.Raw)
		}
	}
	p.must("pflow-exec", "run", "w.json", "--runs-on", "fra="+filepath.Join(bin, "pflow-exec")+" node", "--runs-on", "othr="+filepath.Join(bin, "pflow-exec")+" node")
	for _, given := range []string{"local=x", "Far=x", "far=", "far"} {
		if o := p.run("pflow-exec", "run", "w.json", "--runs-on", given); o.exit != 2 {
			t.Errorf("--runs-on %s: %s", given, o)
		}
	}
}

// A runner that ends without outputs leaves open whether the node has done its work.
func TestALostRunner(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fields, status string
		tries          int
	}{
		"fails":            {``, "failed", 1},
		"is tried again":   {`"retry":{"max":3,"wait":"1ms"},`, "completed", 3},
		"is idempotent":    {`"idempotent":true,`, "failed", 2},
		"has both":         {`"idempotent":true,"retry":{"max":2,"wait":"1ms"},`, "failed", 2},
		"only exit code 7": {`"retry":{"max":3,"wait":"1ms","only_exit_codes":[7]},`, "failed", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			// The third connection holds. Those before are lost after the node has run.
			p.runner("far", "echo x >> tries; if [ $(wc -l < tries) -lt 3 ]; then "+filepath.Join(bin, "pflow-exec")+" node >/dev/null; echo connection lost >&2; exit 255; fi\n"+distant())
			p.write("w.json", `{"nodes":[{"id":"a","type":"shell",`+c.fields+`"runs_on":"far","params":{"command":"echo ran >> ran"}}]}`)
			o := p.run("pflow-exec", "run", "w.json", "--format", "json")
			d := gjson.Parse(o.stdout)
			if d.Get("status").Str != c.status || strings.Count(p.read("tries"), "x") != c.tries || strings.Count(p.read("ran"), "ran") != c.tries {
				t.Errorf("%d tries, %q: %s", strings.Count(p.read("tries"), "x"), p.read("ran"), o)
			}
			if f := d.Get("error"); c.status == "failed" && (f.Get("type").Str != "unavailable" || f.Get("details.runner").Str != "far" || !strings.Contains(f.Get("message").Str, "connection lost")) {
				t.Errorf("%s", f.Raw)
			}
		})
	}
}

// The other end stops when the run is cancelled, when its time is over, and when the run is killed.
func TestTheOtherEndStops(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"cancel", "timeout", "kill", "close"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.runner("far", distant())
			p.write("w.json", `{"nodes":[{"id":"a","type":"shell","runs_on":"far","params":{"command":"echo $$ > pid; exec sleep 1000"}}]}`)
			var run string
			if how == "timeout" {
				run = p.started("w.json", "--timeout", "8")
			} else {
				run = p.started("w.json")
			}
			p.eventually("the node runs", func() bool { return strings.HasSuffix(p.read("pid"), "\n") })
			pid, err := strconv.Atoi(strings.TrimSpace(p.read("pid")))
			if err != nil {
				t.Fatal(err)
			}
			switch how {
			case "cancel":
				p.must("pflow-exec", "cancel", run)
			case "kill":
				p.kill(run)
			case "close": // the runner goes away, as a connection does
				for id, command := range processes("PFLOW_HOME=" + p.home) {
					if strings.HasPrefix(command, "/bin/sh") {
						_ = syscall.Kill(id, syscall.SIGKILL)
					}
				}
				p.must("pflow-exec", "cancel", run)
			}
			p.eventually("the process of the node has ended", func() bool { return syscall.Kill(pid, 0) != nil })
		})
	}
}

// A secret goes to the other end on its standard input, and nowhere else.
func TestARunnerKeepsSecrets(t *testing.T) {
	t.Parallel()
	needsLinux(t, "only Linux shows command lines")
	const secret = "s3cr3t-of-the-runner"
	p := newPlace(t)
	g := p.gate("gate")
	p.runner("far", distant())
	p.write("w.json", `{"inputs":{"api_key":{"type":"string","secret":true}},"nodes":[{"id":"a","type":"shell","runs_on":"far","params":{"command":"echo ${api_key} $TOKEN; read x < gate","env":{"TOKEN":"${api_key}"}}}]}`)
	p.env = append(p.env, "api_key="+secret)
	run := p.started("w.json")
	open := g.reached()
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range lines {
		if b, err := os.ReadFile(path); err == nil && strings.Contains(string(b), secret) {
			t.Errorf("%s has the secret: %q", path, b)
		}
	}
	open()
	p.waitsFor(run, "completed")
	_ = filepath.WalkDir(p.home, func(path string, _ os.DirEntry, _ error) error {
		if b, err := os.ReadFile(path); err == nil && strings.Contains(string(b), secret) {
			t.Errorf("%s has the secret", path)
		}
		return nil
	})
}

func TestAnAttemptIsRead(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	if o := p.fed(`{"v":1,"type":"shell","params":{"command":"echo hi; exit 3"}}`, "pflow-exec", "node"); o.exit != 1 || o.stdout != `{"log":{"stream":"stdout","text":"hi\n"}}`+"\n"+
		o.stdout[strings.LastIndex(strings.TrimSpace(o.stdout), "\n")+1:] || gjson.Get(o.stdout[strings.Index(o.stdout, "\n")+1:], "$action").Str != "error" {
		t.Errorf("%s", o)
	}
	for _, stdin := range []string{"", "{}", "[]", `{"v":2,"type":"echo","params":{}}`, "x"} {
		if o := p.fed(stdin, "pflow-exec", "node"); o.exit == 0 || gjson.Get(o.stdout, "success").Raw != "false" {
			t.Errorf("%q: %s", stdin, o)
		}
	}
	if o := p.fed(`{"v":1,"type":"no-such","params":{}}`, "pflow-exec", "node"); o.exit != 1 || gjson.Get(o.stdout, "$fault.type").Str != "unavailable" {
		t.Errorf("%s", o)
	}
}

// Long outputs come in pieces, and are what they are on this machine: text and bytes, with secrets, with newlines at the end.
func TestLongOutputsOfARunner(t *testing.T) {
	t.Parallel()
	const secret = "s3cr3t-in-a-long-output"
	var events [2]string
	for i, runner := range []string{"local", "far"} {
		p := newPlace(t)
		p.runner("far", distant())
		p.write("file.txt", strings.Repeat("é", 200_000))
		p.write("w.json", `{"runs_on":"`+runner+`","inputs":{"api_key":{"type":"string","secret":true}},"nodes":[
			{"id":"stripped","type":"shell","params":{"command":"yes é | head -c 300000; yes '' | head -c 200000; yes e | head -c 100000 >&2"}},
			{"id":"whole","type":"shell","params":{"command":"yes x | head -c 300000","strip_newline":false}},
			{"id":"newlines","type":"shell","params":{"command":"echo x; yes '' | head -c 200000"}},
			{"id":"bytes","type":"shell","params":{"command":"yes | head -c 300000; printf '\\377\n'"}},
			{"id":"escapes","type":"shell","params":{"command":"head -c 300000 /dev/zero"}},
			{"id":"code","type":"code","params":{"language":"bash","code":"printf '%200000s\\n' x; result=1"}},
			{"id":"file","type":"read-file","params":{"file_path":"file.txt"}},
			{"id":"fails","type":"shell","params":{"command":"yes | head -c 300000; exit 3","ignore_errors":true}},
			{"id":"secret","type":"shell","params":{"command":"printf '%100000s' x; echo ${api_key}; printf '%100000s' x"}},
			{"id":"reader","type":"shell","runs_on":"local","params":{"command":"grep -c ${api_key}","stdin":"${secret.stdout}"}}]}`)
		p.env = append(p.env, "api_key="+secret)
		if d := gjson.Parse(p.must("pflow-exec", "run", "w.json", "--format", "json")); d.Get("outputs.reader.stdout").Str != "1" {
			t.Errorf("%s: %s", runner, d.Get("outputs.reader").Raw)
		}
		events[i] = sameAnywhere(p)
	}
	if events[0] != events[1] || strings.Contains(events[0], secret) {
		t.Errorf("by a runner:\n%s\nnot\n%s", events[1], events[0])
	}
}

// What a runner prints besides a reply is not held: neither in memory nor, after the attempt, in a file.
func TestARunnerPrintsGarbage(t *testing.T) {
	brief.Skip(t)
	t.Parallel()
	p := newPlace(t)
	p.write("w.json", `{"runs_on":"far","nodes":[{"id":"t","type":"shell","params":{"command":"true"}}]}`)
	for _, c := range []struct{ runner, kind string }{
		{"head -c 200000000 /dev/zero | tr '\\0' x", "unavailable"},
		{"head -c 200000000 /dev/zero | tr '\\0' '\\n'; echo sorry", "unavailable"},
		{"yes", "too_large"},
		{"cat", "protocol_error"},
		{`echo '{"$action":"default","$outputs":{"stdout":{"$blob":"1","bytes":1,"mime":"text/plain"}}}'`, "protocol_error"},
		{`printf '{"value":{"id":"1","%s"}}\n' 'text":"a' 'end":true,"x":"' 'text":"b'; cat >/dev/null`, "protocol_error"},
	} {
		r := p.run("/bin/sh", "-c", `ulimit -v 1500000; exec "$@"`, "sh", filepath.Join(bin, "pflow-exec"), "run", "w.json", "--format", "json", "--runs-on", "far="+c.runner)
		doc := gjson.Parse(r.stdout)
		if r.exit != 1 || doc.Get("error.type").Str != c.kind || doc.Get("error.node").Str != "t" || len(r.stdout) > 8000 {
			t.Errorf("%s: exit status %d, %.1000s %.300s", c.runner, r.exit, r.stdout, r.stderr)
		}
	}
}
