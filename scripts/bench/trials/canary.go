package main

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// place is a place where secrets are written.
type place struct {
	name string
	// awkward is true if the secrets may have any character.
	awkward bool
	// put puts the secrets there.
	put func(t *trial, secrets []string, l *leaky)
}

// leaky is a workflow that puts out the secrets that it gets.
type leaky struct {
	// inputs are its declarations, and args and resumeArgs the arguments of run and of resume. stdin is a file for run, values
	// has the inputs for a call over MCP.
	inputs           object
	args, resumeArgs []string
	stdin            string
	values           object
	// source is a shell command that prints the secrets, a line each.
	source string
	// bare is true if the secrets may be put out only as they are printed: nothing but their place shows what they are.
	bare bool
	// apart is true if a run over MCP would not get the secrets.
	apart bool
	// more are further nodes.
	more []object
	// then are further commands after the runs, the standard input of which is the last word after a "<".
	then [][]string
	// theirs are files of the home into which the user wrote the secrets.
	theirs []string
}

// forms is a shell loop that puts out each line that it reads in many forms.
const forms = `{ printf 'it is %s.\n' "$x"; printf '{"a":"%s"}\n' "$(printf %s "$x" | sed 's/["\\]/\\&/g')"
printf 'abc%s.' "$x" | base64 -w0; echo; printf 'a%s.' "$x" | base64 -w0; echo; printf 'ab%s.' "$x" | base64 -w0 | tr '+/' '-_'; echo; printf '%050d%s.' 7 "$x" | base64
printf 'https://x/?q='; printf %s "$x" | od -An -v -tx1 | tr -d '\n' | tr ' ' '%'; echo; }`

// json returns the workflow. Its node dies kills the runner once, and mends fails until there is a file fixed.
func (l *leaky) json() []byte {
	shell := func(id, command string, more object) object {
		n := object{"id": id, "type": "shell", "params": object{"command": command}}
		maps.Copy(n, more)
		return n
	}
	put := forms
	if l.bare {
		put = `printf '%s\n' "$x"`
	}
	all := l.source + ` | while IFS= read -r x; do ` + put + `; done`
	nodes := []object{
		shell("out", l.source+` >> met; `+all, nil),
		shell("err", all+" >&2", nil),
		shell("fails", all+" >&2; "+l.source+"; exit 4", nil),
		shell("retried", l.source+" >&2; exit 3", object{"retry": object{"max": 2, "wait": "1ms"}}),
		shell("batch", l.source+`; echo "${item}"`, object{"batch": object{"items": []string{"one", "two"}, "parallel": true}}),
		shell("batch-fails", l.source+" >&2; exit 5", object{"batch": object{"items": []int{1}}}),
		shell("cached", l.source, object{"cache": true}),
		shell("long", `for i in 1 2 3 4 5 6 7 8 9; do for j in 1 2 3 4 5 6 7 8 9; do `+l.source+`; done; done`, nil),
		shell("reads", "cat; exit 0", nil),
		shell("bytes", `printf '\377'; `+l.source, nil),
		{"id": "echo", "type": "echo", "params": object{"message": "it is ${out.stdout}", "data": object{"list": []string{"${err.stderr}"}}}},
		{"id": "sub", "type": "workflow", "params": object{"inputs": object{"x": "${out.stdout}"}, "workflow": object{
			"inputs": object{"x": object{"type": "string"}}, "nodes": []object{shell("say", `printf '%s\n' "${x}" >&2; printf '%s\n' "${x}"`, nil)},
		}}},
		shell("dies", `test -e died || { : > died; kill -9 $(cat "$PFLOW_HOME/runs/$PFLOW_RUN_ID/lock"); }; `+l.source, nil),
		shell("mends", l.source+" >&2; test -e fixed", nil),
	}
	nodes[8]["params"].(object)["stdin"] = "${out.stdout}"
	edges := []object{{"from": "fails", "to": "after", "action": "error"}, {"from": "retried", "to": "after", "action": "error"}, {"from": "batch-fails", "to": "after", "action": "error"}}
	for _, id := range []string{"out", "err", "batch", "cached", "long", "reads", "bytes", "echo", "sub"} {
		edges = append(edges, object{"from": id, "to": "after"})
	}
	for _, n := range l.more {
		edges = append(edges, object{"from": n["id"], "to": "after"}, object{"from": n["id"], "to": "after", "action": "error"})
	}
	edges = append(edges, object{"from": "after", "to": "dies"}, object{"from": "dies", "to": "mends"})
	nodes = append(nodes, shell("after", "true", nil))
	b, err := json.Marshal(object{
		"description": "A workflow that puts out secrets", "inputs": l.inputs, "nodes": append(nodes, l.more...), "edges": edges,
		"outputs": object{"all": object{"source": "${out.stdout}"}, "last": object{"source": "${mends.stderr}"}},
	})
	if err != nil {
		panic(err)
	}
	return b
}

// readers are the commands that show the newest run, the workflow and the servers.
var readers = []string{
	"pflow-exec list", "pflow-exec status last", "pflow-exec status last --format text", "pflow-exec events last", "pflow-exec events last --inline", "pflow-exec wait last",
	"pflow-exec wait last --format text", "pflow-exec logs last", "pflow-exec logs last --format text", "pflow-exec show last", "pflow-exec show last --format text --raw",
	"pflow-exec report last", "pflow-exec report last -o home/report.html", "pflow-exec gc --dry-run", "pflow-exec cancel last", "pflow-lib graph leaky --run last",
	"pflow-lib graph leaky --run last --as svg", "pflow-lib check leaky", "pflow-lib describe leaky", "pflow-lib list --drafts", "pflow-lib search secret", "pflow-lib search say",
	"pflow-sync tools", "pflow-sync list", "pflow-sync call front describe_workflow name=leaky", "pflow-sync call front list_library",
}

// hide puts secrets into a place, runs the workflow that puts them out through a kill, a failure and two resumes, shows the run in every
// way, and searches for the secrets.
func (t *trial) hide(p place) error {
	secrets := randomSecrets(t.rng, p.awkward)
	l := &leaky{inputs: object{}, values: object{}, source: "cat bare", theirs: []string{"workflows/leaky.json", "settings.json", "mcp-servers.json"}}
	if err := errors.Join(t.put("bare", strings.Join(secrets, "\n")+"\n"), t.serveMCP(object{})); err != nil {
		return err
	}
	p.put(t, secrets, l)
	if err := t.put("home/workflows/leaky.json", string(l.json())); err != nil {
		return err
	}
	debug := []string{"--log-level", "debug"}
	run := slices.Concat([]string{"pflow-exec", "run", "leaky"}, l.args, debug)
	resume := slices.Concat([]string{"pflow-exec", "resume", "last"}, l.resumeArgs, debug)
	if l.resumeArgs == nil {
		resume = slices.Concat(resume, l.args)
	}
	t.say(l.stdin, 137, run...)
	t.say("", 1, resume...)
	if err := t.put("fixed", ""); err != nil {
		return err
	}
	t.say("", 0, resume...)
	t.say(l.stdin, 0, append(run, "--format", "json", "--max-output-chars", "0")...)
	t.say(l.stdin, 0, append(run, "--format", "text")...)
	t.say(l.stdin, -1, append(run, "--dry-run")...)
	values, err := json.Marshal(object{"name": "leaky", "inputs": l.values, "max_output_chars": 0})
	if err != nil {
		return err
	}
	if err := t.put("values.json", string(values)); err != nil {
		return err
	}
	if !l.apart {
		t.say("values.json", 0, "pflow-sync", "call", "front", "execute", "-")
	}
	for _, line := range readers {
		t.say("", -1, append(strings.Fields(line), debug...)...)
	}
	for _, words := range l.then {
		stdin := ""
		if i := slices.Index(words, "<"); i >= 0 {
			words, stdin = words[:i], words[i+1]
		}
		t.say(stdin, -1, words...)
	}
	t.verifyMet(secrets)
	t.verifyNoSecret(secrets, l.theirs...)
	t.verifyNothingRuns()
	return nil
}

// verifyMet checks that the node out got every secret, and that the programs put out what stands for them: otherwise the search proves
// nothing.
func (t *trial) verifyMet(secrets []string) {
	met, _ := os.ReadFile(filepath.Join(t.dir, "met"))
	for i, s := range secrets {
		if !strings.Contains(string(met), s) {
			t.complain("secret %d did not come to the node", i)
		}
	}
	for _, c := range t.calls[:5] {
		if text, _ := os.ReadFile(c.stdout); !strings.Contains(string(text), "<redacted>") {
			t.complain("%s has redacted nothing", c)
		}
	}
}

// say runs a program to its end. The exit status must be the given one; a negative one stands for any up to 4.
func (t *trial) say(stdin string, exit int, words ...string) {
	if stdin != "" {
		stdin = filepath.Join(t.dir, stdin)
	}
	c, err := t.startProgram(words[0], stdin, words[1:]...)
	if err != nil {
		t.complain("%v", err)
		return
	}
	t.wait(c)
	got := c.exit
	if c.killed {
		got = 137
		t.Kills++
	}
	if got != exit && (exit >= 0 || got > 4) {
		t.complain("%s: exit status %d, want %d: %s", c, got, exit, quote(c.stderr))
	}
}

// put writes a file of the trial.
func (t *trial) put(name, content string) error {
	path := filepath.Join(t.dir, name)
	return errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600))
}

// must records an error of the trial's own work.
func (t *trial) must(err error) {
	if err != nil {
		t.complain("the trial: %v", err)
	}
}
