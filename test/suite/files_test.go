package suite

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// referring is a workflow whose files are in folders beside it. Each of its forms refers to the same files.
var referring = map[string]string{
	"flow.json": `{"inputs":{"who":{"type":"string","default":"Ada"}},"nodes":[
		{"id":"say","type":"shell","params":{"command":"./parts/say.sh"}},
		{"id":"sub","type":"workflow","params":{"workflow":"kids/child.pflow.md","inputs":{"text":"${say.stdout}"}}}],
		"outputs":{"text":{"source":"${sub.text}"}}}`,
	"flow.pflow.md": `# Flow

## Inputs

### who

Who it is.

- type: string
- default: Ada

## Steps

### say

Say it.

- type: shell
- command: ./parts/say.sh

### sub

More of it.

- type: workflow
- workflow: kids/child.pflow.md
- inputs: {text: "${say.stdout}"}

## Outputs

### text

All of it.

- source: ${sub.text}
`,
}

// parts writes the files of referring into a folder.
func (p *place) parts(folder string) {
	p.write(folder+"/parts/say.sh", "echo \"hello ${who}\"\n")
	p.write(folder+"/parts/more.py", "text: str\n\nresult: str = text + \", more\"\n")
	p.write(folder+"/kids/child.pflow.md", `# Child

## Inputs

### text

A text.

- type: string

## Steps

### more

Add to it.

- type: code
- inputs: {text: "${text}"}
- code: ../parts/more.py

## Outputs

### text

All of it.

- source: ${more.result}
`)
}

// Files that a workflow refers to, and the workflows that it runs, are beside its own file, wherever the caller is.
func TestPathsInAWorkflow(t *testing.T) {
	t.Parallel()
	for name, text := range referring {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.parts("flows")
			p.write("flows/"+name, text)
			p.parts("home/workflows")
			p.write("home/workflows/"+name, text)
			p.write("parts/say.sh", "echo wrong\n")
			elsewhere := filepath.Dir(p.write("elsewhere/x", ""))
			for _, words := range []string{
				"run flows/" + name, "run " + p.dir + "/flows/" + name, "run -C " + elsewhere + " flows/" + name, "run flow", "run -C " + elsewhere + " flow",
			} {
				args := append(strings.Fields(words), "--print", "text")
				if got := p.must("pflow-exec", args...); got != "hello Ada, more\n" {
					t.Errorf("%s: %s", words, got)
				}
			}
			p.must("pflow-exec", "start", "flow", "-C", elsewhere)
			if got := p.must("pflow-exec", "wait", "last", "--print", "text"); got != "hello Ada, more\n" {
				t.Errorf("started: %s", got)
			}
			// From standard input they are in the working directory.
			p.write("elsewhere/parts/say.sh", "echo \"here, ${who}\"\n")
			p.write("elsewhere/parts/more.py", "text: str\nresult: str = text\n")
			p.write("elsewhere/kids/child.pflow.md", p.read("flows/kids/child.pflow.md"))
			if o := p.fed(text, "pflow-exec", "run", "-", "-C", elsewhere, "--print", "text"); o.stdout != "here, Ada\n" {
				t.Error(o)
			}
			if o := p.fed(text, "pflow-exec", "run", "-", "-C", filepath.Dir(p.write("empty/x", ""))); o.exit != 2 || !strings.Contains(o.stderr, "child.pflow.md") {
				t.Error(o)
			}
			if o := p.run("pflow-lib", "check", "flows/"+name); o.exit != 0 {
				t.Error(o)
			}
			if o := p.run("pflow-lib", "graph", "flow"); o.exit != 0 {
				t.Error(o)
			}
		})
	}
}

// A node finds the files beside its workflow: those of a sub-workflow are in another folder than those of its caller.
func TestTheFolderOfAWorkflow(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("flows/kids/child.json", `{"nodes":[{"id":"read","type":"shell","params":{"command":"cat \"$PFLOW_WORKFLOW_DIR/name.txt\""}}]}`)
	p.write("flows/w.json", `{"nodes":[
		{"id":"child","type":"workflow","params":{"workflow":"kids/child.json"}},
		{"id":"own","type":"code","params":{"code":"import os\nresult: str = open(os.environ['PFLOW_WORKFLOW_DIR'] + '/name.txt').read()"}}],
		"outputs":{"both":{"source":"${own.result} has ${child.read.stdout}"}}}`)
	p.write("flows/name.txt", "parent")
	p.write("flows/kids/name.txt", "child")
	elsewhere := filepath.Dir(p.write("elsewhere/name.txt", "wrong"))
	for _, words := range []string{"run flows/w.json", "run flows/w.json -C " + elsewhere, "run " + p.dir + "/flows/w.json", "run flows/w.json --resume last"} {
		if got := p.must("pflow-exec", append(strings.Fields(words), "--print", "both")...); got != "parent has child\n" {
			t.Errorf("%s: %s", words, got)
		}
	}
}

// A file that a workflow refers to counts for reuse. A resume as it was uses what the run began with.
func TestResumeWithAChangedFile(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("w.json", `{"nodes":[
		{"id":"same","type":"shell","params":{"command":"./same.sh"}},
		{"id":"other","type":"shell","params":{"command":"./other.sh"}},
		{"id":"last","type":"shell","params":{"command":"echo \"${same.stdout} ${other.stdout}\"; test -e fixed"}}],
		"outputs":{"text":{"source":"${last.stdout}"}}}`)
	p.write("same.sh", "echo same | tee -a ran\n")
	p.write("other.sh", "echo first | tee -a ran\n")
	if o := p.run("pflow-exec", "run", "w.json"); o.exit != 1 {
		t.Fatal(o)
	}
	p.write("ran", "")
	p.write("other.sh", "echo second | tee -a ran\n")
	if got := p.would("w.json", "--resume", "last"); got != "reuse same, run other, run last" {
		t.Errorf("predicted %s", got)
	}
	p.write("fixed", "")
	if got := p.must("pflow-exec", "resume", "last", "--as-it-was", "--print", "text"); got != "same first\n" {
		t.Errorf("as it was: got %s, want same first", got)
	}
	if got := p.must("pflow-exec", "resume", "last", "--print", "text"); got != "same second\n" || p.read("ran") != "second\n" {
		t.Errorf("the workflow as it is now: %s, ran %s", got, p.read("ran"))
	}
}

// What a workflow refers to is bounded, and a link in the home does not lead out of it.
func TestFilesThatAreRefused(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	flow := `{"nodes":[{"id":"a","type":"shell","params":{"stdin":"./big","command":"wc -c"}}]}`
	p.draft("refers", flow)
	p.write("secret", "of-the-outside")
	big := filepath.Join(p.home, "workflows", "big")
	check := func(what, word string) {
		t.Helper()
		for _, words := range []string{"pflow-exec run refers", "pflow-lib check refers", "pflow-lib save refers kept"} {
			name, args, _ := strings.Cut(words, " ")
			if o := p.run(name, strings.Fields(args)...); o.exit != 2 || !strings.Contains(o.stdout, word) || strings.Contains(o.stdout, "of-the-outside") {
				t.Errorf("%s, %s: %s", what, words, o)
			}
		}
	}
	check("missing", `"line":1`)
	if err := os.Symlink(filepath.Join(p.dir, "secret"), big); err != nil {
		t.Fatal(err)
	}
	check("a link out of the home", "security_error")
	_ = os.Remove(big)
	if err := os.WriteFile(big, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(big, 16<<20+1); err != nil {
		t.Fatal(err)
	}
	check("more than the limit", "16")
	if err := os.Truncate(big, 9<<20); err != nil {
		t.Fatal(err)
	}
	p.draft("refers", strings.Replace(flow, "]}", `,{"id":"b","type":"shell","params":{"stdin":"./big","command":"wc -c"}}]}`, 1))
	check("more than the limit in all", "16")
	p.draft("refers", flow)
	if err := os.WriteFile(big, []byte("a\xffb"), 0o600); err != nil {
		t.Fatal(err)
	}
	check("not UTF-8", "UTF-8")
}
