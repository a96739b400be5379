package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/pflow-suite/pflow/internal/hostilemcp"
)

// stage is where the sides of a row run: the folders of the suite's programs and of the row, which has the home, and the environment.
type stage struct {
	*bench
	bin, dir string
	env      []string
}

// stage returns a stage with the programs of a folder, or those that it builds as they are released, and one that does nothing. It copies them: a
// program that the linker has just written starts up to a quarter slower than its copy, because of the smaller pages of its file in memory.
func (b *bench) stage(build, from string) *stage {
	s := &stage{bench: b, bin: b.dir + "/" + build, dir: must(os.MkdirTemp(b.dir, build+"-"))}
	ends = append(ends, func() { _ = os.RemoveAll(s.dir) })
	s.env = []string{"PFLOW_HOME=" + s.dir + "/home", "PATH=" + s.bin + ":" + os.Getenv("PATH"), "W=" + s.dir, "R=" + b.root}
	if _, err := os.Stat(s.bin); err == nil {
		return s
	}
	if from == "" {
		fmt.Fprintln(os.Stderr, "bench: building the programs")
		from = s.dir + "/built"
		s.write("bare.go", "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(\"bare 1.0.0\") }\n")
		s.sh("go build -o built/bare bare.go && CGO_ENABLED=0 go build -C $R -trimpath -ldflags '-s -w' -o $W/built/ ./cmd/...")
	}
	s.sh("mkdir " + s.bin + " && cp $(find " + must(filepath.Abs(from)) + "/. -maxdepth 1 -type f) " + s.bin)
	return s
}

// cmd returns the command of the words of a line, in which $W is the folder of the row and $R the repository, and of further ones.
func (s *stage) cmd(line string, more ...string) *exec.Cmd {
	words := strings.Fields(strings.NewReplacer("$W", s.dir, "$R", s.root).Replace(line))
	cmd := exec.Command("env", append(words, more...)...) // finds a program by the command's PATH
	cmd.Dir, cmd.Env = s.dir, append(os.Environ(), s.env...)
	return cmd
}

// sh returns the output of a command of the shell, and count the number of its lines.
func (s *stage) sh(command string) string     { return output(s.cmd("sh -c", command)) }
func (s *stage) count(command string) float64 { return float64(strings.Count(s.sh(command), "\n")) }

// output returns the output of a command, which must succeed.
func output(cmd *exec.Cmd) string {
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("%.300q: %w: %.1000s", cmd.Args, err, exit.Stderr)
	}
	return string(must(out, err))
}

// write writes a file in the stage's folder.
func (s *stage) write(path, text string) {
	check(os.MkdirAll(filepath.Dir(s.dir+"/"+path), 0o700))
	check(os.WriteFile(s.dir+"/"+path, []byte(text), 0o600))
}

// shell returns a node, with more of its fields.
func shell(id, command, more string) string {
	return fmt.Sprintf(`{"id":%q,"type":"shell","params":{"command":%q}%s}`, id, command, more)
}

func workflow(nodes ...string) string { return `{"nodes":[` + strings.Join(nodes, ",\n") + `]}` }

// steps writes n steps for all that can run them. Only ninja has /bin/sh start a command; it runs every step, because none makes the file that it
// names. The goal of go-task is the last step of a chain, because it would run a step once for each that depends on it.
func (s *stage) steps(n int, chain bool, command string) {
	lines := func(first int, format string) string { // of a step and the one before it
		var text strings.Builder
		for i := first; i <= n; i++ {
			before := ""
			if chain && i > 1 {
				before = fmt.Sprint("n", i-1)
			}
			fmt.Fprintf(&text, format, i, before)
		}
		return text.String()
	}
	edges, goals := "", lines(1, "n%[1]d, ")
	if chain {
		edges, goals = lines(2, `{"from":%[2]q,"to":"n%[1]d"},`), lines(n, "n%[1]d")
	}
	nodes := lines(1, shell("n%[1]d", command, "")+",")
	s.write("w.json", `{"edges":[`+strings.TrimSuffix(edges, ",")+`],"nodes":[`+strings.TrimSuffix(nodes, ",")+"]}")
	s.write("w.mk", fmt.Sprintf("all: %[1]s\n.PHONY: all %[1]s\n", lines(1, "n%[1]d "))+lines(1, "n%[1]d: %[2]s\n\t@"+command+"\n"))
	s.write("w.ninja", "rule true\n  command = "+command+"\n"+lines(1, "build n%[1]d: true %[2]s\n"))
	s.write("w.yml", "version: '3'\ntasks:\n  all:\n    deps: ["+goals+"]\n"+lines(1, "  n%[1]d:\n    deps: [%[2]s]\n    cmds: ["+command+"]\n"))
}

// runs fills the home with n runs that have ended or wait: copies of a run of each of two commands, with ids of their own, and their number as
// the input n. Every kth is of the first.
func (s *stage) runs(n, k int, first, second string) {
	_, _ = s.cmd(first).Run(), s.cmd(second).Run() // a run that fails or waits has a status of its own
	originals := must(filepath.Glob(s.dir + "/home/runs/r*"))
	for i := range n - len(originals) {
		of, id, input := originals[min(i%k, 1)], fmt.Sprintf("r00%024d", i), fmt.Sprintf(`"inputs":{"n":%d}`, i)
		own := strings.NewReplacer(filepath.Base(of), id, `"inputs":{"n":0}`, input, `"inputs":{"n":1}`, input)
		for _, name := range []string{"journal.ndjson", "workflow.json", "lock"} {
			s.write("home/runs/"+id+"/"+name, own.Replace(string(must(os.ReadFile(of+"/"+name)))))
		}
	}
}

// manyRuns fills the home with 10,000 runs of a saved workflow, of which every tenth has failed.
func (s *stage) manyRuns() {
	s.write("home/library/counted.json", `{"description":"Count to the third","inputs":{"n":{"type":"integer"}},`+workflow(shell("a", "exit ${n}", ""))[1:])
	s.runs(10_000, 10, "pflow-exec run --quiet counted n=1", "pflow-exec run --quiet counted n=0")
	s.sh("pflow-exec list") // makes the index
}

// runsPage makes many runs, serves the web page of them, and returns its URL.
func (s *stage) runsPage() string {
	s.manyRuns()
	return strings.TrimSuffix(s.serve(serveHTTP+" --toolsets core,runs").url, "api/mcp")
}

// servers configures MCP servers with n tools, as servers describe them: with some sentences, and a schema of five parameters. It registers these, and
// writes a workflow with a node of each of ten servers.
func (s *stage) servers(count, n int) {
	s.sh("go build -C $R -o $W/hostilemcp ./scripts/hostilemcp")
	random, verbs := rand.New(rand.NewPCG(1, 2)), strings.Fields("read create list query send update delete search")
	listed, configured, nodes := make([][]string, count), []string{}, []string{}
	for i := range n {
		var properties []string
		for p, name := range strings.Fields("path owner repo limit filter") {
			properties = append(properties, fmt.Sprintf(`%q:{"type":"string","description":%q}`, name, sentence(random, 8+p)))
		}
		listed[i%count] = append(listed[i%count], fmt.Sprintf(`{"name":"%s_it_%d","description":%q,"inputSchema":{"type":"object","properties":{%s},"required":["path"]}}`,
			verbs[i%8], i, sentence(random, 15+random.IntN(30)), strings.Join(properties, ",")))
	}
	for i, tools := range listed {
		nodes = append(nodes, fmt.Sprintf(`{"id":"n%d","type":"mcp-server-%[1]d-%s-it-%[1]d","params":{"path":"x"}}`, i, verbs[i%8]))
		folder := fmt.Sprint("server-", i)
		s.write(folder+"/"+hostilemcp.GivenTools, "["+strings.Join(tools, ",")+"]")
		configured = append(configured, fmt.Sprintf(`%q:{"command":"%s/hostilemcp","args":[%q,"tools/list","%s/%s"]}`, folder, s.dir, hostilemcp.Given, s.dir, folder))
	}
	s.write("w.json", workflow(nodes[:10]...))
	s.write("home/mcp-servers.json", `{"mcpServers":{`+strings.Join(configured, ",")+`}}`)
	s.sh("pflow-sync sync --all")
	time.Sleep(2500 * time.Millisecond) // then all files count as unchanged, and their index is stored
}

// library fills the home with saved workflows, and node types of 13 servers.
func (s *stage) library(saved, types int) {
	random := rand.New(rand.NewPCG(3, 4))
	about := func(n int) string { return fmt.Sprintf("%q", sentence(random, n)) }
	for i := range saved {
		s.write(fmt.Sprintf("home/library/flow-%d.json", i), `{"version":"1.0.0","created_at":"2026-01-02T03:04:05Z","description":`+about(18)+`,
  "inputs":{"path":{"type":"string","description":`+about(8)+`},"limit":{"type":"integer","default":10,"description":`+about(8)+`}},
  "edges":[{"from":"get","to":"count"},{"from":"count","to":"say"}],"outputs":{"lines":{"source":"${count.stdout}","description":`+about(8)+`}},
  `+workflow(shell("get", "cat ${path} | head -n ${limit}", `,"purpose":`+about(6)), shell("count", "printf %s ${get.stdout} | wc -l", ""), shell("say", "echo ${count.stdout}", ""))[1:])
	}
	s.servers(13, types)
}

// words are those of the documentation.
var words = sync.OnceValue(func() []string {
	return strings.Fields(output(exec.Command("sh", "-c", "cat docs/*.md | tr -sc a-z ' '")))
})

// sentence returns n of them that follow one another.
func sentence(random *rand.Rand, n int) string {
	at := random.IntN(len(words()) - n)
	return strings.Join(words()[at:at+n], " ")
}
