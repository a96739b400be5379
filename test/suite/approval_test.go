package suite

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// gatedBy returns a workflow whose second node asks, with a secret in its file, and with a secret input that has a default.
func gatedBy(literal string) string {
	return `{"inputs":{"token":{"type":"string","secret":true,"required":false,"default":"nothing"}},
	"nodes":[{"id":"count","type":"shell","params":{"command":"echo 2 >> counted; printf 2"}},
		{"id":"deploy","type":"shell","approval":{"question":"Deploy ${count.stdout}?"},
			"params":{"command":"printf '%s' \"${count.stdout} ${token} $API_KEY\" > deployed","env":{"API_KEY":"` + literal + `"}}}],
	"edges":[{"from":"count","to":"deploy"}]}`
}

// asksOnly is the same without a secret.
const asksOnly = `{"nodes":[{"id":"count","type":"shell","params":{"command":"echo 2 >> counted; printf 2"}},
	{"id":"deploy","type":"shell","approval":true,"params":{"command":"printf '%s' \"${count.stdout}\" > deployed"}}]}`

// TestThePausedRunsHintWorks runs the command that a paused run suggests, with the secrets that it asks for.
func TestThePausedRunsHintWorks(t *testing.T) {
	t.Parallel()
	const literal, token = "sk-live-0123456789abcdef", "t0ken-of-the-user"
	for name, c := range map[string]struct {
		start, stdin, deployed string
		fill                   []string
	}{
		"a file":           {"pflow-exec run w.json", "", "2 nothing " + literal, nil},
		"standard input":   {"pflow-exec run -", gatedBy(literal), "2 nothing " + literal, []string{"WORKFLOW", "w.json"}},
		"a secret input":   {"pflow-exec run w.json token=" + token, "", "2 " + token + " " + literal, []string{"VALUE", token}},
		"both":             {"pflow-exec run - token=" + token, gatedBy(literal), "2 " + token + " " + literal, []string{"VALUE", token, "WORKFLOW", "w.json"}},
		"in the back":      {"pflow-exec start w.json >/dev/null; pflow-exec wait last", "", "2 nothing " + literal, nil},
		"without a secret": {"pflow-exec run -", asksOnly, "2", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.write("w.json", gatedBy(literal))
			sh := func(command, stdin string) (string, int) {
				cmd := p.command("pflow-exec")
				cmd.Path, cmd.Args, cmd.Err = "/bin/sh", []string{"sh", "-c", command + " --format json 2>/dev/null"}, nil
				cmd.Stdin = strings.NewReader(stdin)
				out, err := cmd.Output()
				if _, ended := err.(*exec.ExitError); err != nil && !ended { //nolint:errorlint // Output does not wrap it
					t.Fatal(err)
				}
				return string(out), cmd.ProcessState.ExitCode()
			}
			paused, exit := sh(c.start, c.stdin)
			if exit != 4 {
				t.Fatalf("exit status %d: %s", exit, paused)
			}
			_, hint, _ := strings.Cut(gjson.Get(paused, "error.suggestions.0").Str, "Answer: ")
			hint, _, _ = strings.Cut(hint, ", where")
			for i := 0; i < len(c.fill); i += 2 {
				if !strings.Contains(hint, c.fill[i]) {
					t.Errorf("the hint does not ask for %s: %s", c.fill[i], hint)
				}
			}
			answered, exit := sh(strings.NewReplacer(append(c.fill, "=ANSWER", "=yes")...).Replace(hint), "")
			if exit != 0 || p.read("deployed") != c.deployed || p.read("counted") != "2\n" {
				t.Errorf("%s: exit status %d, deployed %q, counted %q: %s", hint, exit, p.read("deployed"), p.read("counted"), answered)
			}
		})
	}
}

// TestAnApprovalShowsWhatWouldHappen checks the parameters in the event, in show and on a terminal.
func TestAnApprovalShowsWhatWouldHappen(t *testing.T) {
	t.Parallel()
	const literal = "sk-live-0123456789abcdef"
	p := newPlace(t)
	p.write("w.json", gatedBy(literal))
	want := `printf '%s' "2 <redacted> $API_KEY" > deployed`
	if o := p.run("pflow-exec", "run", "w.json", "token="+canary); o.exit != 4 {
		t.Fatal(o)
	}
	asked := ""
	for line := range strings.Lines(p.must("pflow-exec", "events", "last")) {
		if gjson.Get(line, "event").Str == "approval_requested" {
			asked = gjson.Get(line, "params.command").Str
		}
	}
	if asked != want {
		t.Errorf("the event has %q", asked)
	}
	if shown := p.must("pflow-exec", "show", "last", "deploy"); gjson.Get(shown, "params.command").Str != want || gjson.Get(shown, "params.env.API_KEY").Str != "<redacted>" || gjson.Get(shown, "choices.#").Int() != 2 {
		t.Errorf("show prints %s", shown)
	}
	if shown := p.must("pflow-exec", "show", "last", "--format", "text"); !strings.Contains(shown, "deploy asks: Deploy 2? [yes/no]") || !strings.Contains(shown, "command: "+want) {
		t.Errorf("show prints %s", shown)
	}
	p.checkNoCanary()
}

// TestAContinuedRunPointsOn: whoever asks for a paused run that another one continues is led to that one, not to an answer.
func TestAContinuedRunPointsOn(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("w.json", asksOnly)
	paused := gjson.Get(p.run("pflow-exec", "run", "w.json", "--format", "json").stdout, "run_id").Str
	if text := p.must("pflow-exec", "status", paused, "--format", "text"); !strings.Contains(text, "\ndeploy asks: ") || strings.Contains(text, "\nnode deploy: ") || !strings.Contains(text, "resume "+paused+" --approve ") {
		t.Errorf("before: %s", text)
	}
	next := gjson.Get(p.must("pflow-exec", "resume", paused, "--approve", "yes", "--format", "json"), "run_id").Str
	for _, command := range []string{"wait", "status", "show"} {
		for _, format := range []string{"json", "text"} {
			for _, hints := range []string{"shell", "tools:core"} {
				o := p.run("pflow-exec", command, paused, "--format", format, "--hints", hints)
				if all := o.stdout + o.stderr; !strings.Contains(all, next) || strings.Contains(all, "--approve") || strings.Contains(all, "resume "+paused) || strings.Contains(all, "ask the person") {
					t.Errorf("%s as %s for %s: %s", command, format, hints, o)
				}
				if d := gjson.Parse(o.stdout); format == "json" && (d.Get("resumed_by").Str != next || d.Get("resume").Exists() || !strings.Contains(d.Get("error.suggestions").Raw, next)) {
					t.Errorf("%s for %s: %s", command, hints, o)
				}
			}
		}
	}
}
