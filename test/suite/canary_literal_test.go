package suite

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// literals is a workflow with secrets written in it. It fails until there is a file fixed, and writes the secrets into file got.
func literals(secrets []string) string {
	var nodes []string
	for i := range canaries / 4 {
		nodes = append(nodes, fmt.Sprintf(`{"id":"n%d","type":"shell","params":{"env":{"A_TOKEN":%q,"B_TOKEN":%q},"command":"test -e fixed && printf '%%s\\n' $A_TOKEN $B_TOKEN 'http://me:%s@h/?key=%s' >> got"}}`,
			i, secrets[4*i], secrets[4*i+1], secrets[4*i+2], secrets[4*i+3]))
	}
	return `{"nodes":[` + strings.Join(nodes, ",") + `]}`
}

// TestACanaryWrittenInAWorkflow: a run does not store it, and a resume reads it from the same place of the workflow's file again.
func TestACanaryWrittenInAWorkflow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, file, run string
		change          func(p *place, path, text string)
		exit            int
	}{
		{name: "a path", file: "w.json", run: "w.json"},
		{name: "a draft", file: "home/workflows/telling.json", run: "telling"},
		{name: "a saved workflow", file: "home/library/telling.json", run: "telling"},
		{name: "changed elsewhere", file: "w.json", run: "w.json", change: func(p *place, _, text string) {
			p.write("w.json", strings.Replace(text, `{"nodes":[`, `{"description":"new","nodes":[{"id":"other","type":"echo"},`, 1))
		}},
		{name: "gone", file: "w.json", run: "w.json", exit: 2, change: func(p *place, path, _ string) { _ = os.Remove(path) }},
		{name: "another text", file: "w.json", run: "w.json", exit: 2, change: func(p *place, _, text string) {
			p.write("w.json", strings.Replace(text, "A_TOKEN", "C_TOKEN", 1))
		}},
		{name: "no workflow", file: "w.json", run: "w.json", exit: 2, change: func(p *place, _, _ string) { p.write("w.json", "{") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			secrets := flock()
			p := newPlace(t)
			h := p.look(secrets...)
			h.theirs = append(h.theirs, strings.TrimPrefix(c.file, "home/"))
			text := literals(secrets)
			path := p.write(c.file, text)
			if o := h.ask("", "pflow-exec", "run", c.run, "--keep-going", "--log-level", "debug"); o.exit != 1 {
				t.Error(o)
			}
			p.write("fixed", "")
			if c.change != nil {
				c.change(p, path, text)
			}
			o := h.ask("", "pflow-exec", "resume", "last", "--as-it-was", "--log-level", "debug")
			if o.exit != c.exit {
				t.Error(o)
			}
			if c.exit == 2 && (!strings.Contains(o.stdout+o.stderr, filepath.Base(path)) || strings.Contains(o.stdout, "run_started")) {
				t.Errorf("the file is not named: %s", o)
			}
			if c.exit == 0 {
				got := p.read("got")
				for _, secret := range secrets {
					if strings.Count(got, secret) != 1 {
						t.Errorf("a node got another value:\n%s", got)
					}
				}
			}
			for _, command := range []string{"status last", "show last", "events last --inline", "logs last", "report last", "wait last"} {
				h.ask("", "pflow-exec", strings.Fields(command)...)
			}
			h.inHome()
		})
	}
	for _, gone := range []bool{false, true} {
		t.Run(fmt.Sprintf("in a file that it refers to, gone: %v", gone), func(t *testing.T) {
			t.Parallel()
			secrets := flock()
			p := newPlace(t)
			h := p.look(secrets...)
			var nodes []string
			for i, secret := range secrets {
				nodes = append(nodes, fmt.Sprintf(`{"id":"n%d","type":"shell","params":{"command":"./parts/%d.sh"}}`, i, i))
				h.theirs = append(h.theirs, fmt.Sprintf("parts/%d.sh", i))
				p.write(h.theirs[len(h.theirs)-1], "test -e fixed && echo 'http://me:"+secret+"@h/' >> got\n")
			}
			p.write("w.json", `{"nodes":[`+strings.Join(nodes, ",")+`]}`)
			if o := h.ask("", "pflow-exec", "run", "w.json", "--keep-going"); o.exit != 1 {
				t.Error(o)
			}
			p.write("fixed", "")
			if gone {
				_ = os.Remove(filepath.Join(p.dir, "parts", "0.sh"))
				if o := h.ask("", "pflow-exec", "resume", "last", "--as-it-was"); o.exit != 2 || !strings.Contains(o.stderr, "w.json") {
					t.Error(o)
				}
			} else if o := h.ask("", "pflow-exec", "resume", "last"); o.exit != 0 || strings.Count(p.read("got"), "\n") != len(secrets) {
				t.Error(o)
			}
			h.inHome()
		})
	}
	t.Run("from standard input", func(t *testing.T) {
		t.Parallel()
		secrets := flock()
		p := newPlace(t)
		h := p.look(secrets...)
		if o := h.ask(literals(secrets), "pflow-exec", "run", "-", "--log-level", "debug"); o.exit != 1 {
			t.Error(o)
		}
		if o := h.ask("", "pflow-exec", "resume", "last"); o.exit != 2 || !strings.Contains(o.stderr, "standard input") {
			t.Error(o)
		}
		h.inHome()
	})
}
