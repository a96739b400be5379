package suite

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// canary is a secret with characters that have other forms in JSON, in URLs and in both alphabets of base64.
const canary = `ka"nary\yellow/4?2>&~ÿ`

// canaryForms are the forms of the canary.
func canaryForms() []string {
	quoted := func(s string, html bool) string {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(html)
		_ = enc.Encode(s)
		return strings.Trim(strings.TrimSpace(b.String()), `"`)
	}
	forms := []string{canary, quoted(canary, false), quoted(canary, true), quoted(quoted(canary, false), false), url.QueryEscape(canary), url.PathEscape(canary)}
	for skip := range 3 { // other bytes may stand before and behind it
		whole := canary[skip:]
		whole = whole[:len(whole)/3*3]
		forms = append(forms, base64.StdEncoding.EncodeToString([]byte(whole)), base64.URLEncoding.EncodeToString([]byte(whole)))
	}
	return forms
}

// checkNoCanary checks that neither the outputs nor the home contain the canary.
func (p *place) checkNoCanary(printed ...string) {
	p.Helper()
	forms := canaryForms()
	find := func(where, text string) {
		for _, form := range forms {
			if i := strings.Index(text, form); i >= 0 {
				p.Errorf("the secret is in %s: …%s…", where, text[max(0, i-120):min(len(text), i+len(form)+40)])
				return
			}
		}
	}
	for _, text := range printed {
		find("what was printed", text)
	}
	err := filepath.WalkDir(p.home, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			if path == p.home { // nothing was written
				return nil
			}
			return err
		}
		name, _ := filepath.Rel(p.home, path)
		find("a file's name", name)
		if entry.Type().IsRegular() && name != "settings.json" {
			content, err := os.ReadFile(path)
			find(name, string(content))
			return err
		}
		return nil
	})
	if err != nil {
		p.Error(err)
	}
}

// node is a workflow of one node.
func node(kind string, params map[string]any, inputs string) string {
	b, err := json.Marshal(params)
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf(`{"inputs":{%s},"nodes":[{"id":"a","type":%q,"params":%s}]}`, inputs, kind, b)
}

func TestASecretIsNowhere(t *testing.T) {
	t.Parallel()
	shell := func(command string) string { return node("shell", map[string]any{"command": command}, "") }
	const (
		pin     = `"pin":{"type":"string","secret":true}`
		setting = `"plain":{"type":"string"}`
		inEnv   = "X_TOKEN=" + canary
	)
	for _, c := range []struct {
		name, workflow, env, stdin string
		args                       []string
		settings                   bool
		exit                       int
	}{
		{name: "a declared input", workflow: node("shell", map[string]any{"command": `echo "it is ${pin}"`}, pin), args: []string{"pin=" + canary}},
		{name: "a declared input as JSON", workflow: node("echo", map[string]any{"message": "it is ${pin}"}, pin), args: []string{"pin:=" + quote(canary)}},
		{name: "a declared input from a document", workflow: node("shell", map[string]any{"command": "cat", "stdin": "${pin}"}, pin), args: []string{"--inputs", "-"}, stdin: `{"pin":` + quote(canary) + `}`},
		{name: "an input by its name", workflow: node("shell", map[string]any{"command": `echo "${apiKey}"`}, `"apiKey":{"type":"string"}`), args: []string{"apiKey=" + canary}},
		{name: "deep in a declared input", workflow: node("echo", map[string]any{"data": "${pin}"}, `"pin":{"type":"object","secret":true}`), args: []string{`pin:={"a":[{"b":` + quote(canary) + `}]}`}},
		{name: "the environment", workflow: shell(`echo "it is $X_TOKEN"`), env: inEnv},
		{name: "the whole environment", workflow: shell("env"), env: inEnv},
		{name: "settings", workflow: node("shell", map[string]any{"command": `echo "it is ${plain}"`}, setting), settings: true},
		{name: "settings, not used", workflow: node("shell", map[string]any{"command": `cat home/settings.json`}, ""), settings: true},
		{name: "base64", workflow: shell(`printf %s "$X_TOKEN" | base64 -w0`), env: inEnv},
		{name: "inside base64", workflow: shell(`printf 'user:%s@host' "$X_TOKEN" | base64 -w0`), env: inEnv},
		{name: "base64 of another alphabet", workflow: shell(`printf 'me:%s:' "$X_TOKEN" | base64 -w0 | tr '+/' '-_'`), env: inEnv},
		{name: "escaped for JSON", workflow: shell(`printf '{"token":"%s"}' "$(printf %s "$X_TOKEN" | sed 's/["\\]/\\&/g')"`), env: inEnv},
		{name: "standard error", workflow: shell(`echo "debug: $X_TOKEN" >&2`), env: inEnv},
		{name: "an error message", workflow: shell(`echo "bad token $X_TOKEN" >&2; exit 4`), env: inEnv, exit: 1},
		{name: "an error message that says it in JSON", workflow: shell(`printf '{"token":"%s"}' "$(printf %s "$X_TOKEN" | sed 's/["\\]/\\&/g')" >&2; exit 4`), env: inEnv, exit: 1},
		{name: "a long output", workflow: shell(`yes "$X_TOKEN" | head -c 300000`), env: inEnv},
		{name: "in bytes that are no text", workflow: shell(`printf '\377%s\376' "$X_TOKEN"`), env: inEnv},
		{name: "a path that is not there", workflow: node("read-file", map[string]any{"file_path": "/none/${pin}"}, pin), args: []string{"pin=" + canary}, exit: 1},
		{name: "a URL that nobody answers", workflow: node("http", map[string]any{"url": "http://127.0.0.1:1/${pin}?token=${pin}"}, pin), args: []string{"pin=" + canary}, exit: 1},
		{name: "a URL that is none", workflow: node("http", map[string]any{"url": "${pin}"}, pin), args: []string{"pin=" + canary}, exit: 1},
		{name: "a header that is none", workflow: node("http", map[string]any{"url": "http://127.0.0.1:1/", "headers": map[string]string{"X": "${pin}\n"}}, pin), args: []string{"pin=" + canary}, exit: 1},
		{name: "a program that is not there", workflow: shell(`"$X_TOKEN"`), env: inEnv, exit: 1},
		{name: "a value of the wrong type", workflow: node("shell", map[string]any{"command": `echo "${pin}"`}, `"pin":{"type":"integer","secret":true}`), args: []string{"pin=" + canary}, exit: 2},
		{name: "a default that is a secret", workflow: node("shell", map[string]any{"command": `echo "${pin}"`}, `"pin":{"type":"string","secret":true,"default":`+quote(canary)+`}`)},
		{name: "a parameter of the wrong type", workflow: node("shell", map[string]any{"command": "true", "timeout": "${pin}"}, pin), args: []string{"pin=" + canary}, exit: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.env = append(p.env, c.env)
			if c.settings {
				p.write("home/settings.json", `{"env":{"plain":`+quote(canary)+`}}`)
			}
			p.write("w.json", c.workflow)
			args := append([]string{"run", "w.json", "--log-level", "debug"}, c.args...)
			o := p.fed(c.stdin, "pflow-exec", args...)
			if o.exit != c.exit {
				t.Errorf("not exit status %d: %s", c.exit, o)
			}
			if c.exit < 2 && !strings.Contains(o.stdout, "<redacted>") {
				t.Errorf("nothing is redacted, so the secret was not met: %s", o)
			}
			document := p.fed(c.stdin, "pflow-exec", append(args, "--format", "json", "--max-output-chars", "0")...)
			words := p.fed(c.stdin, "pflow-exec", append(args, "--format", "text")...)
			p.checkNoCanary(o.stdout, o.stderr, document.stdout, document.stderr, words.stdout, words.stderr)
			for _, command := range []string{"list", "status last", "events last", "wait last"} {
				shown := p.run("pflow-exec", strings.Fields(command)...)
				p.checkNoCanary(shown.stdout, shown.stderr)
			}
		})
	}
}

func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// A secret is written in two halves, the second after the first has been read.
func TestASecretInTwoWrites(t *testing.T) {
	t.Parallel()
	for _, stream := range []string{"1", "2"} {
		p := newPlace(t)
		p.env = append(p.env, "X_TOKEN="+canary)
		g := p.gate("gate")
		p.write("w.json", chain(`(printf 'it is %s' "${X_TOKEN%ellow*}"; read x < gate; printf '%s\n' "${X_TOKEN#*\\y}") >&`+stream))
		cmd := p.command("pflow-exec", "run", "w.json")
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		open := g.reached()
		p.checkNoCanary()
		open()
		if err := cmd.Wait(); err != nil || !strings.Contains(stdout.String(), "it is <redacted>") {
			t.Errorf("%v: %s%s", err, stdout.String(), stderr.String())
		}
		p.checkNoCanary(stdout.String(), stderr.String())
	}
}

// A secret that an agent gives is in no answer and in no file.
func TestASecretThroughTheFront(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.draft("tell", node("shell", map[string]any{"command": `echo "it is ${pin}"; echo "bad ${pin}" >&2; exit 5`}, `"pin":{"type":"string","secret":true}`))
	c := p.connect("pflow-serve", "--log-level", "debug")
	a, failed := c.call("execute", `{"name":"tell","inputs":{"pin":`+quote(canary)+`}}`)
	if !failed || !strings.Contains(fmt.Sprint(a), "<redacted>") {
		t.Errorf("%v", a)
	}
	_ = c.stdin.Close()
	_ = c.cmd.Wait()
	p.checkNoCanary(fmt.Sprint(a), quote(fmt.Sprint(a)), c.stderr.String())
}

// A run with a secret that was killed at its second node resumes with the secret from its source, or names what is missing.
// A node that reads a redacted value receives the secret itself.
func TestARunWithASecretResumes(t *testing.T) {
	t.Parallel()
	const inputs = `"inputs":{"pin":{"type":"string","secret":true}},`
	for _, c := range []struct {
		name, third, ran string
		env, settings    bool
	}{
		{name: "given again", third: "${pin}", ran: "a b b c"},
		{name: "from the environment", third: "${pin}", ran: "a b b c", env: true},
		{name: "from the settings", third: "${pin}", ran: "a b b c", settings: true},
		{name: "by way of an output", third: "${a.stdout}", ran: "a a b b c"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			g := p.gate("gate")
			w := chain(`echo a >> ran.txt; echo "${pin}"`, "echo b >> ran.txt; read x < gate", `echo c >> ran.txt; printf %s "`+c.third+`" > got.txt`)
			p.write("w.json", "{"+inputs+w[1:])
			given := []string{"pin=" + canary}
			if c.env {
				p.env, given = append(p.env, "pin="+canary), nil
			}
			if c.settings {
				p.write("home/settings.json", `{"env":{"pin":`+quote(canary)+`}}`)
				given = nil
			}
			var stdout, stderr bytes.Buffer
			cmd := p.command("pflow-exec", append([]string{"run", "w.json"}, given...)...)
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			_ = g.reached()
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			if given != nil {
				o := p.run("pflow-exec", "resume", "last")
				if o.exit != 2 || !strings.Contains(o.stderr, "pin") {
					t.Errorf("without the secret: %s", o)
				}
				p.checkNoCanary(o.stdout, o.stderr)
			}
			p.eventually("nothing of the run is left", func() bool { return len(processes("PFLOW_HOME="+p.home)) == 0 })
			again := p.command("pflow-exec", append([]string{"resume", "last"}, given...)...)
			again.Stdout, again.Stderr = &stdout, &stderr
			if err := again.Start(); err != nil {
				t.Fatal(err)
			}
			g.reached()()
			if err := again.Wait(); err != nil {
				t.Errorf("resume: %v: %s", err, stderr.String())
			}
			if got := p.read("got.txt"); got != canary {
				t.Errorf("the last node got %q", got)
			}
			if got := strings.Fields(p.read("ran.txt")); !slices.Equal(slices.Sorted(slices.Values(got)), strings.Fields(c.ran)) {
				t.Errorf("the nodes ran %q", got)
			}
			p.checkNoCanary(stdout.String(), stderr.String())
		})
	}
}
