package suite

import (
	"bytes"
	"io"
	"strings"
	"syscall"
	"testing"
)

// logLines returns the lines of pflow-exec logs on a pipe, each as node, stream and text.
func (p *place) logLines(ndjson string) string {
	p.Helper()
	var said []string
	for _, e := range p.events(ndjson) {
		text, _ := e["text"].(string)
		if object, ok := e["text"].(map[string]any); ok {
			text, _ = object["$base64"].(string)
			text = "base64:" + text
		}
		said = append(said, e["node"].(string)+" "+e["stream"].(string)+" "+text)
	}
	return strings.Join(said, "|")
}

const noisy = `{"nodes":[
	{"id":"a","type":"shell","params":{"command":"echo one; echo two >&2; printf three"}},
	{"id":"each","type":"shell","batch":{"items":["x","y"]},"params":{"command":"echo \"${item}\""}},
	{"id":"sub","type":"workflow","params":{"workflow":{"nodes":[{"id":"in","type":"shell","params":{"command":"printf '\\377\\n'"}}]}}},
	{"id":"subs","type":"workflow","batch":{"items":[1,2]},"params":{"inputs":{"n":"${item}"},"workflow":{"inputs":{"n":{}},"nodes":[{"id":"in","type":"shell","params":{"command":"echo \"${n}\""}}]}}},
	{"id":"silent","type":"shell","params":{"command":"true"}}]}`

func TestLogsTellWhatNodesSaid(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("w.json", noisy)
	p.must("pflow-exec", "run", "w.json", "-j", "1")
	for args, want := range map[string]string{
		"last a":                  "a stdout one\n|a stdout three|a stderr two\n",
		"last a --stream stderr":  "a stderr two\n",
		"last each":               "each stdout x\n|each stdout y\n",
		"last sub":                "sub/in stdout base64:/wo=",
		"last sub/in":             "sub/in stdout base64:/wo=",
		"last subs":               "subs[0]/in stdout 1\n|subs[1]/in stdout 2\n",
		"last subs[1]/in":         "subs[1]/in stdout 2\n",
		"last silent":             "",
		"last a --follow":         "a stdout one\n|a stdout three|a stderr two\n",
		"last --stream stdout -f": "a stdout one\n|a stdout three|each stdout x\n|each stdout y\n|sub/in stdout base64:/wo=|subs[0]/in stdout 1\n|subs[1]/in stdout 2\n",
	} {
		if got := p.logLines(p.must("pflow-exec", append([]string{"logs"}, strings.Fields(args)...)...)); got != want {
			t.Errorf("logs %s: %q, want %q", args, got, want)
		}
	}
	for args, want := range map[string]string{
		"last a":    "one\nthreetwo\n",
		"last each": "x\ny\n",
		"last subs": "subs[0]/in | 1\nsubs[1]/in | 2\n",
		"last":      "a | one\na | three\na | two\neach | x\neach | y\nsub/in | \xff\nsubs[0]/in | 1\nsubs[1]/in | 2\n",
	} {
		if got := p.must("pflow-exec", append([]string{"logs", "--format", "text"}, strings.Fields(args)...)...); got != want {
			t.Errorf("logs %s as text: %q, want %q", args, got, want)
		}
	}
	o := p.run("pflow-exec", "logs", "last", "esch")
	fault, _ := p.last(o.stdout)["error"].(map[string]any)
	if o.exit != 2 || fault["type"] != "not_found" || !strings.Contains(o.stderr, `hint: Did you mean "each"?`) {
		t.Errorf("a node that is not there: %s", o)
	}
}

func TestALongLineOfALogComesWhole(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("w.json", chain("head -c 200000 /dev/zero | tr '\\0' x; echo; echo end"))
	p.must("pflow-exec", "run", "w.json")
	if got := p.must("pflow-exec", "logs", "last", "a", "--format", "text"); got != strings.Repeat("x", 200_000)+"\nend\n" {
		t.Errorf("%d bytes", len(got))
	}
	whole := ""
	lines := p.events(p.must("pflow-exec", "logs", "last"))
	for _, l := range lines {
		whole += l["text"].(string)
	}
	if whole != strings.Repeat("x", 200_000)+"\nend\n" || len(lines) != 5 {
		t.Errorf("%d lines with %d bytes", len(lines), len(whole))
	}
}

func TestLogsAreFollowedToTheEndOfTheRun(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"ends", "is killed"} {
		t.Run(end, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			g := p.gate("gate")
			p.write("w.json", chain("echo first", "echo waiting; read x < gate; echo $x", "echo last"))
			id, _ := p.document(p.must("pflow-exec", "start", "w.json"))["run_id"].(string)
			logs := p.command("pflow-exec", "logs", id, "--follow", "--format", "text")
			var stderr bytes.Buffer
			logs.Stderr = &stderr
			out, err := logs.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := logs.Start(); err != nil {
				t.Fatal(err)
			}
			open := g.reached()
			begin := make([]byte, len("a | first\nb | waiting\n"))
			if _, err := io.ReadFull(out, begin); err != nil || string(begin) != "a | first\nb | waiting\n" {
				t.Errorf("meanwhile %q, %v", begin, err)
			}
			want := "b | go on\nc | last\n"
			if end == "is killed" {
				p.kill(id)
				want = ""
			} else {
				open()
			}
			rest, _ := io.ReadAll(out)
			if err := logs.Wait(); err != nil || string(rest) != want || stderr.Len() > 0 {
				t.Errorf("then %q, want %q; %v %q", rest, want, err, stderr.String())
			}
			if end == "is killed" {
				p.must("pflow-exec", "cancel", id)
				p.checkInterrupted(id)
				p.must("pflow-exec", "gc", "--keep", "0")
			}
		})
	}
}

// kill kills the process that executes a run.
func (p *place) kill(id string) {
	p.Helper()
	for pid, command := range processes("PFLOW_HOME=" + p.home) {
		if strings.Contains(command, "pflow-exec detached") {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			p.eventually("the run is interrupted", func() bool {
				return p.document(p.must("pflow-exec", "status", id))["status"] == "interrupted"
			})
			return
		}
	}
	p.Fatal("nobody executes the run")
}

// checkInterrupted checks how a run is shown whose runner was killed while its second node was running.
func (p *place) checkInterrupted(id string) {
	p.Helper()
	d := p.document(p.must("pflow-exec", "show", id))
	if d["status"] != "interrupted" || d["resume"] != "pflow-exec resume "+id || d["ended_at"] != nil {
		p.Errorf("%v", d)
	}
	states := ""
	for _, n := range d["nodes"].([]any) {
		states += " " + n.(map[string]any)["state"].(string)
	}
	if states != " completed interrupted pending" {
		p.Errorf("the nodes are%s", states)
	}
	if got := p.logLines(p.must("pflow-exec", "logs", id, "b", "--follow")); got != "b stdout waiting\n" {
		p.Errorf("it said %q", got)
	}
}

func TestFollowingLogsEndsWithItsReader(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	g := p.gate("gate")
	p.write("w.json", chain("echo first; read x < gate"))
	id, _ := p.document(p.must("pflow-exec", "start", "w.json"))["run_id"].(string)
	open := g.reached()
	logs := p.command("pflow-exec", "logs", id, "--follow")
	var stderr bytes.Buffer
	logs.Stderr = &stderr
	out, err := logs.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := logs.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 10)); err != nil {
		t.Error(err)
	}
	_ = out.Close() // while nothing is said
	_ = logs.Wait()
	if logs.ProcessState.ExitCode() != 141 || stderr.Len() > 0 {
		t.Errorf("%s, %q", logs.ProcessState, stderr.String())
	}
	if status := p.document(p.must("pflow-exec", "status", id))["status"]; status != "running" {
		t.Errorf("the run is %s", status)
	}
	open()
	p.must("pflow-exec", "wait", id)
}

func TestShowTellsAll(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("w.json", `{"inputs":{"who":{"type":"string"},"pin":{"type":"string","secret":true}},"nodes":[
		{"id":"a","type":"shell","params":{"command":"head -c 70000 /dev/zero | tr '\\0' x; : ${pin}"}},
		{"id":"each","type":"shell","batch":{"items":["x","y"],"error_handling":"continue"},"params":{"command":"test \"${item}\" = x"}},
		{"id":"sub","type":"workflow","params":{"workflow":{"nodes":[{"id":"in","type":"shell","params":{"command":"exit 3"}}]}}},
		{"id":"next","type":"echo","params":{"message":"${sub.in}"}}],"outputs":{"long":{"source":"${a.stdout}"}}}`)
	if o := p.run("pflow-exec", "run", "w.json", "who=Ada", "pin=hunter22", "-k"); o.exit != 1 {
		t.Fatal(o)
	}
	text := p.must("pflow-exec", "show", "last")
	d := p.document(text)
	inputs, _ := d["inputs"].(map[string]any)
	if d["status"] != "failed" || inputs["who"] != "Ada" || inputs["pin"] != "<redacted>" || d["workflow"] != "w.json" || d["cwd"] != p.dir || len(text) > 10_000 {
		t.Errorf("%s", text)
	}
	nodes := map[string]map[string]any{}
	for _, n := range d["nodes"].([]any) {
		n := n.(map[string]any)
		nodes[n["node"].(string)] = n
	}
	items, _ := nodes["each"]["items"].(map[string]any)
	if items["total"] != 2.0 || items["ended"] != 2.0 || items["failed"] != 1.0 {
		t.Errorf("the batch: %v", nodes["each"])
	}
	if nodes["sub/in"]["state"] != "failed" || nodes["next"]["state"] != "cancelled" || nodes["next"]["why"] != "sub" {
		t.Errorf("%v\n%v", nodes["sub/in"], nodes["next"])
	}
	one := p.document(p.must("pflow-exec", "show", "last", "a", "--max-output-chars", "0"))
	if outputs, _ := one["outputs"].(map[string]any); len(outputs["stdout"].(string)) != 70_000 {
		t.Errorf("%v", one)
	}
	if people := p.must("pflow-exec", "show", "last", "a", "--format", "text"); !strings.Contains(people, "stdout: "+strings.Repeat("x", 70_000)) {
		t.Errorf("%.300s", people)
	}
	if people := p.must("pflow-exec", "show", "last", "next", "--format", "text"); people != "next  cancelled\nbecause of: sub\n" {
		t.Errorf("%q", people)
	}
	p.run("pflow-exec", "resume", "last", "pin=hunter22", "-k")
	if again := p.document(p.must("pflow-exec", "show", "last", "a")); again["state"] != "reused" || again["from_run"] != d["run_id"] {
		t.Errorf("%v", again)
	}
	if first := p.document(p.must("pflow-exec", "show", d["run_id"].(string))); first["resumed_by"] == nil {
		t.Errorf("%v", first["resumed_by"])
	}
	p.checkNoText("hunter22")
}

// checkNoText checks that no file of the home contains a text.
func (p *place) checkNoText(text string) {
	p.Helper()
	for name, content := range p.files() {
		if strings.Contains(content, text) {
			p.Errorf("%q is in %s", text, name)
		}
	}
}
