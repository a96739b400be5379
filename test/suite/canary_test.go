package suite

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/pflow-suite/pflow/internal/brief"
)

// partSize is how many bytes of a secret cannot occur by accident. Some forms of them are longer.
const partSize = 10

// SECRET stands for the way in which a command receives the secret.
var tellers = map[string]string{
	"plain":            `printf 'it is %s.\n' "SECRET"; printf 'debug: %s.\n' "SECRET" >&2`,
	"base64-0":         `printf 'abc%s.' "SECRET" | base64 -w0`,
	"base64-1":         `printf 'a%s.' "SECRET" | base64 -w0`,
	"base64-2":         `printf 'ab%s.' "SECRET" | base64 -w0; printf 'ab%s' "SECRET" | base64 -w0 | tr '+/' '-_' >&2`,
	"base64-wrapped-0": `printf '%048d%s.' 7 "SECRET" | base64`,
	"base64-wrapped-1": `printf '%049d%s.' 7 "SECRET" | base64`,
	"base64-wrapped-2": `printf '%050d%s.' 7 "SECRET" | base64 | sed 's/$/\r/'`,
	"base64-json":      `printf '{"data":"%s"}' "$(printf '%050d%s.' 7 "SECRET" | base64 | sed 's/$/\\n/' | tr -d '\n')"`,
	"json":             `printf '{"a":"%s"}' "$(printf %s "SECRET" | sed 's/["\\]/\\&/g')"`,
	"percent":          `printf 'https://x/?q='; printf %s "SECRET" | od -An -v -tx1 | tr -d '\n' | tr ' ' '%'`,
	"long":             `yes "SECRET" | head -n 8000; yes "a SECRET" | head -n 4000 >&2`,
	"long-base64":      `yes "SECRET" | head -n 6000 | base64`,
	"no-text":          `printf '\377%s\376' "SECRET"`,
	"fails":            `printf 'bad token %s\n' "SECRET" >&2; printf 'it was %s\n' "SECRET"; exit 4`,
	"fails-long":       `yes "SECRET!" | head -n 200 >&2; exit 4`,
	"fails-base64":     `printf 'Basic %s\n' "$(printf 'me:%s' "SECRET" | base64)" >&2; exit 4`,
	"is-its-name":      `"SECRET"`,
}

// telling is a workflow with a node for each of the tellers, and one for each other place that a secret can reach.
func telling(secret string, inputs string, others bool) string {
	var nodes []object
	for _, id := range slices.Sorted(maps.Keys(tellers)) {
		nodes = append(nodes, object{"id": id, "type": "shell", "params": object{"command": strings.ReplaceAll(tellers[id], "SECRET", secret)}})
	}
	if others {
		say := object{"command": `printf '%s\n' "${x}"; printf '%s\n' "${x}" >&2`}
		nodes = append(nodes,
			object{"id": "echo", "type": "echo", "params": object{"message": "it is " + secret, "data": object{"list": []string{secret}}}},
			object{"id": "cached", "type": "echo", "cache": true, "params": object{"message": secret}},
			object{"id": "cached-command", "type": "shell", "cache": true, "params": object{"command": `printf %s "` + secret + `"`}},
			object{"id": "batch", "type": "shell", "batch": object{"items": []string{"one", secret, "and " + secret}}, "params": object{"command": `printf '%s\n' "${item}"`}},
			object{"id": "batch-fails", "type": "shell", "batch": object{"items": []string{secret}}, "params": object{"command": `printf %s "${item}" >&2; exit 3`}},
			object{"id": "retried", "type": "shell", "retry": 3, "params": object{"command": `printf 'try %s' "` + secret + `" >&2; exit 3`}},
			object{"id": "sub", "type": "workflow", "params": object{"inputs": object{"x": secret}, "workflow": object{
				"inputs": object{"x": object{"type": "string"}}, "nodes": []object{{"id": "say", "type": "shell", "params": say}},
			}}},
			object{"id": "sub-number", "type": "workflow", "params": object{"inputs": object{"x": secret}, "workflow": object{
				"inputs": object{"x": object{"type": "integer"}}, "nodes": []object{{"id": "say", "type": "shell", "params": say}},
			}}},
			object{"id": "refused", "type": "http", "params": object{"url": "http://127.0.0.1:1/" + secret + "?q=" + secret, "headers": object{"X-Key": secret}, "body": object{"k": secret}}},
			object{"id": "no-url", "type": "http", "params": object{"url": secret}},
			object{"id": "bad-header", "type": "http", "params": object{"url": "http://127.0.0.1:1/", "headers": object{"X": secret + "\n"}}},
			object{"id": "no-file", "type": "read-file", "params": object{"file_path": "none/" + secret}},
			object{"id": "bad-timeout", "type": "shell", "params": object{"command": "true", "timeout": secret}},
			object{"id": "long-timeout", "type": "shell", "params": object{"command": "true", "timeout": strings.Repeat("x", 60) + secret}},
			object{"id": "no-folder", "type": "shell", "params": object{"command": "true", "cwd": "none/" + secret}},
			object{"id": "stdin", "type": "shell", "params": object{"command": "cat; env", "stdin": object{"a": secret}, "env": object{"PLAIN": secret}}},
		)
	}
	b, err := json.Marshal(nodes)
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf(`{"inputs":{%s},"nodes":%s}`, inputs, b)
}

// No output and no file contains a secret, however it comes to a workflow and whatever the workflow does with it.
func TestACanary(t *testing.T) {
	t.Parallel()
	needs(t, "base64", "od", "yes")
	const secret, fromStdin = `"pin":{"type":"string","secret":true}`, `"pin":{"type":"string","secret":true,"stdin":true}`
	for _, c := range brief.Part([]struct {
		name, value, inputs, env, settings, stdin string
		args                                      []string
	}{
		{name: "an input", value: "${pin}", inputs: secret, args: []string{"pin=SECRET"}},
		{name: "an input of a file", value: "${pin}", inputs: secret, args: []string{"--inputs", "inputs.json"}},
		{name: "an input of a document", value: "${pin}", inputs: secret, args: []string{"--inputs", "-"}, stdin: `{"pin":JSON}`},
		{name: "what is piped in", value: "${pin}", inputs: fromStdin, stdin: "SECRET\n"},
		{name: "a file's text", value: "${pin}", inputs: secret, args: []string{"pin=@pin.txt"}},
		{name: "an input of the environment", value: "${pin}", inputs: secret, env: "pin=SECRET"},
		{name: "an input of the settings", value: "${plain}", inputs: `"plain":{"type":"string"}`, settings: `{"env":{"plain":JSON}}`},
		{name: "the environment", value: "$MY_TOKEN", env: "MY_TOKEN=SECRET"},
		{name: "a file of the environment", value: "$MY_TOKEN", args: []string{"--env-file", "env.txt"}},
	}, 3) {
		for _, awkward := range []bool{false, true} {
			if !awkward && c.name != "an input" && c.name != "the environment" { // it would go the same ways
				continue
			}
			t.Run(fmt.Sprintf("%s awkward=%v", c.name, awkward), func(t *testing.T) {
				t.Parallel()
				p := newPlace(t)
				value := random(awkward)
				h := p.look(value)
				set := func(s string) string { return strings.NewReplacer("SECRET", value, "JSON", quote(value)).Replace(s) }
				p.env = append(p.env, set(c.env))
				if c.settings != "" {
					p.write("home/settings.json", set(c.settings))
				}
				p.write("inputs.json", set(`{"pin":JSON}`))
				p.write("pin.txt", value)
				p.write("env.txt", "MY_TOKEN="+value+"\n")
				p.draft("telling", telling(c.value, c.inputs, c.inputs != ""))
				args := []string{"run", "telling", "--keep-going", "--log-level", "debug", "--jobs", "4"}
				for _, a := range c.args {
					args = append(args, set(a))
				}
				o := h.ask(set(c.stdin), "pflow-exec", args...)
				p.checkMet(o)
				for _, format := range []string{"json --max-output-chars=0", "text"} {
					h.ask(set(c.stdin), "pflow-exec", append(args, strings.Fields("--format="+format)...)...)
				}
				h.ask(set(c.stdin), "pflow-exec", append(args, "--dry-run")...)
				h.everywhere()
			})
		}
	}
}

// checkMet checks that every node ran and that its outputs had contained the secret: otherwise the hunt proves nothing.
func (p *place) checkMet(o outcome) {
	p.Helper()
	met := map[string]bool{}
	for line := range strings.Lines(o.stdout) {
		e := p.document(line)
		if node, _ := e["node"].(string); node != "" {
			met[node] = met[node] || strings.Contains(line, "<redacted>")
		}
	}
	for _, silent := range []string{"bad-timeout", "long-timeout", "bad-header"} { // they say only what was wanted
		delete(met, silent)
	}
	for node, found := range met {
		if !found && node != "no-url" { // of some texts nothing is said that could be secret
			p.Errorf("nothing is redacted in the output about node %s", node)
		}
	}
	if len(met) < len(tellers) || p.last(o.stdout)["event"] != "run_finished" {
		p.Errorf("%d nodes ran: %s", len(met), o)
	}
}

// No part of a secret that is written in pieces is printed or kept.
func TestACanaryInPieces(t *testing.T) {
	t.Parallel()
	for _, encode := range []string{"cat", "base64", "base64 -w0", "od -An -v -tx1 | tr -d '\\n' | tr ' ' '%'"} {
		t.Run(encode, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			secret := random(true)
			h := p.look(secret)
			p.env = append(p.env, "MY_TOKEN="+secret)
			g := p.gate("gate")
			// Seven bytes at a time, on both streams. The home is searched after each.
			p.draft("telling", chain(`text=$(printf '%050d%s.' 7 "$MY_TOKEN" | `+encode+`; echo end)
				while [ -n "$text" ]; do
					rest=${text#???????}; [ "$rest" != "$text" ] || rest=
					printf %s "${text%"$rest"}"; printf %s "${text%"$rest"}" >&2
					text=$rest; read x < gate
				done; true`))
			cmd := p.command("pflow-exec", "run", "telling", "--log-level", "debug")
			var stdout, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			var err error
			for open := true; open; {
				select {
				case err = <-ended:
					open = false
				default:
					if f, failed := os.OpenFile(g.path, os.O_WRONLY|syscall.O_NONBLOCK, 0); failed == nil {
						h.inHome()
						_, _ = f.WriteString("go on\n")
						_ = f.Close()
					}
				}
			}
			if err != nil || strings.Count(p.last(stdout.String())["outputs"].(map[string]any)["last"].(string), "<redacted>") != 1 {
				t.Errorf("%v: %s%s", err, stdout.String(), stderr.String())
			}
			h.in("standard output", stdout.String())
			h.in("standard error", stderr.String())
			h.everywhere()
		})
	}
}

// A question contains a secret, and the run continues after the answer.
func TestACanaryIsAskedAbout(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	secret := random(true)
	h := p.look(secret)
	p.draft("telling", `{"inputs":{"pin":{"type":"string","secret":true}},"nodes":[
		{"id":"a","type":"shell","approval":{"question":"Deploy with ${pin}?"},"params":{"command":"printf %s \"${pin}\" > got.txt; printf %s \"${pin}\""}}]}`)
	given := "pin=" + secret
	if o := h.ask("", "pflow-exec", "run", "telling", given, "--log-level", "debug"); o.exit != 4 || !strings.Contains(o.stdout, "Deploy with <redacted>?") {
		t.Error(o)
	}
	h.everywhere()
	if o := h.ask("", "pflow-exec", "resume", "last", "--approve", "yes"); o.exit != 2 {
		t.Errorf("without the secret: %s", o)
	}
	if o := h.ask("", "pflow-exec", "resume", "last", given, "--approve", "yes", "--log-level", "debug"); o.exit != 0 || p.read("got.txt") != secret {
		t.Errorf("%s, and the node got %q", o, p.read("got.txt"))
	}
	h.everywhere()
}

// No answer of the tools, no other output of the server and no file that it leaves contains the secret.
func TestACanaryThroughTheFront(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	secret := random(true)
	h := p.look(secret)
	p.draft("telling", telling("${pin}", `"pin":{"type":"string","secret":true}`, true))
	c := p.connect("pflow-serve", "--log-level", "debug")
	for _, call := range [][2]string{
		{"execute", `{"name":"telling","inputs":{"pin":` + quote(secret) + `},"max_output_chars":0}`}, {"describe_workflow", `{"name":"telling"}`}, {"list_library", `{}`},
	} {
		a, _ := c.call(call[0], call[1])
		answer, err := json.Marshal(a)
		if err != nil || call[0] == "execute" && !strings.Contains(fmt.Sprint(a), "<redacted>") {
			t.Errorf("%v: %s", err, answer)
		}
		h.in("the answer of "+call[0], string(answer))
	}
	_ = c.stdin.Close()
	_ = c.cmd.Wait()
	h.in("standard error of pflow-serve", c.stderr.String())
	h.everywhere()
}

// The faults of a workflow are reported without its secrets.
func TestACanaryInABadWorkflow(t *testing.T) {
	t.Parallel()
	for name, workflow := range map[string]string{
		"a default of the wrong type":        `{"inputs":{"pin":{"type":"integer","secret":true,"default":JSON}},"nodes":[{"id":"a","type":"echo"}]}`,
		"a default of an input by its name":  `{"inputs":{"api_key":{"type":"integer","default":JSON}},"nodes":[{"id":"a","type":"echo"}]}`,
		"a parameter of the wrong type":      `{"nodes":[{"id":"a","type":"http","params":{"url":"http://127.0.0.1:1/","headers":{"Authorization":["Bearer SECRET"]},"token":JSON}}]}`,
		"an unknown parameter":               `{"nodes":[{"id":"a","type":"shell","params":{"command":"true","api_token":JSON}}]}`,
		"an environment":                     `{"nodes":[{"id":"a","type":"shell","params":{"command":"echo ${nothing}","env":{"MY_TOKEN":JSON}}}]}`,
		"in the environment, and a template": `{"nodes":[{"id":"a","type":"shell","params":{"command":"echo ${nothing}","env":{"MY_PASSWORD":JSON},"stdin":"SECRET"}}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			secret := random(false)
			h := p.look(secret)
			p.write("w.json", strings.NewReplacer("SECRET", secret, "JSON", quote(secret)).Replace(workflow))
			for _, command := range []string{"pflow-lib check w.json", "pflow-exec run w.json", "pflow-exec run w.json --format json", "pflow-exec start w.json"} {
				words := append(strings.Fields(command), "--log-level", "debug")
				h.ask("", words[0], words[1:]...)
			}
		})
	}
}
