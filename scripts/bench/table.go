package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

const (
	run          = "pflow-exec run --quiet --jobs 2 $W/w.json"
	search       = "pflow-lib search --no-workflows --format json"
	nop          = "/bin/true"
	unknownWords = `printf %s "$(seq -f qwrty%g -s ' ' 10000)"` // each is compared with all known ones
)

// table is the work: what is made and run, beside what, and its limits.
func table() []row {
	check10000 := []command{{line: "pflow-lib check $W/w.json", limits: "wall ms <= 150"}, {line: "make -n -f $W/w.mk"}}
	return append([]row{
		{"start", 200, "", func(s *stage) []side {
			commands := []command{{line: "bare"}}
			for _, folder := range must(filepath.Glob("cmd/*")) {
				name, most := filepath.Base(folder), 3
				if name == "pflow-temporal" || strings.HasPrefix(name, "pflow-node-") {
					most = 5 // the libraries that they link start slowly, and their work takes far longer
				}
				commands = append(commands, command{line: name + " --version", limits: fmt.Sprint("wall ms / bare <= ", most)})
			}
			return s.sides(commands...)
		}},
		{"one node", 100, "", steps(1, true, command{line: run, limits: "wall ms <= 10"}, command{line: "bare"})},
		{"one node by a runner", 100, "", func(s *stage) []side { // on this machine, so that the time of a connection does not count
			s.steps(1, true, nop)
			s.write("far.json", `{"runs_on":"far",`+s.sh("cat w.json")[1:])
			far := command{line: "pflow-exec run --quiet --jobs 2 $W/far.json --runs-on", args: []string{"far=exec env -i " + s.bin + "/pflow-exec node"}}
			far.name, far.limits = "by the runner", "wall ms - here <= 15"
			return s.sides(command{name: "here", line: run}, far)
		}},
		{"chain of 100", 20, "", steps(100, true, beside("1.5")...)},
		{"fan-out of 100", 20, "", steps(100, false, beside("1.5")...)},
		{"chain of 1,000", 5, "", steps(1000, true, beside("1.2")...)},
		{"fan-out of 1,000", 5, "", steps(1000, false, beside("1.2")...)},
		{"journal of a chain of 1,000", 0, "", once("journal of a node bytes <= 1000", func(s *stage) figures {
			s.steps(1000, true, nop)
			s.sh(run)
			_, events, _ := strings.Cut(s.sh("cat home/runs/*/journal.ndjson"), "\n") // the first has the whole workflow
			return figures{"journal of a node bytes": float64(len(events)) / 1000}
		})},
		{"resume of a chain of 10,000", 10, "", func(s *stage) []side { // that failed in its last node
			s.steps(10_000, true, nop)
			last := `"n10000","type":"shell","params":{"command":"`
			s.write("w.json", strings.Replace(s.sh("cat w.json"), last+nop, last+"test -e "+s.dir+"/may-end", 1))
			_ = s.cmd(run).Run()
			s.sh("touch may-end; mv home failed")
			resume := inHome("resume", "pflow-exec resume --quiet --jobs 2 last", "wall ms <= 300")
			resume.before = func() { s.sh("rm -rf home; cp -R failed home") }
			return s.sides(resume)
		}},
		{"memory of a batch of 10,000", 3, "", func(s *stage) []side { // with different outputs of 10 kB
			batch := func(name string, n int, limits string) command {
				s.write(name, workflow(shell("each", "seq -f '${item} has line %g in its output' 1 330", `,"batch":{"items":[`+s.sh(fmt.Sprint("seq -s , ", n))+`],"parallel":true}`)))
				return command{name: name, line: "pflow-exec run --quiet --jobs 2 $W/" + name, limits: limits}
			}
			return s.sides(batch("1000", 1000, ""), batch("10000", 10_000, "memory MB / 1000 <= 2"))
		}},
		{"memory of an output of 100 MB", 3, "", func(s *stage) []side {
			s.write("w.json", workflow(shell("long", "yes 'a line of text' | head -c 100000000", "")))
			return s.sides(command{line: run, limits: "memory MB <= 150"})
		}},
		{"lists of 10,000 runs", 20, "", func(s *stage) []side {
			s.manyRuns()
			return s.sides(inHome("all, without an index", "sh -c", "wall ms <= 3000", "rm home/runs/.index; exec pflow-exec list"), inHome("all", "pflow-exec list", "wall ms <= 60"), inHome("20 that failed", "pflow-exec list --status failed --limit 20", "wall ms <= 30"),
				inHome("by text", "pflow-exec list --limit 20 --text", "wall ms <= 60", "third counted"), inHome("by an input", "pflow-exec list --input n=5000", "wall ms <= 60"),
				inHome("statistics of a workflow", "pflow-lib describe counted", "wall ms <= 60"))
		}},
		{"web page of 10,000 runs", 20, "command -v curl", func(s *stage) []side { // curl ends as soon as grep has the first row
			fetch := "curl -sN '" + s.runsPage() + "?status=failed' | grep -q -m 1 '<tr data-name='"
			return s.sides(command{name: "first row of pflow-serve http", line: "sh -c", args: []string{fetch}, limits: "wall ms <= 300"})
		}},
		{"check of a chain of 10,000", 10, "", steps(10_000, true, check10000...)},
		{"check of 10,000 in parallel", 10, "", steps(10_000, false, check10000...)},
		{"one field of 100 MB", 3, "", func(s *stage) []side { // at 1 GB/s, by a benchmark of the package
			return []side{{name: "pkg/workflow/template", limits: "slowest ms <= 100", run: func() figures {
				f, printed := figures{}, s.sh("go test -C $R -run ^$ -bench ^BenchmarkField$ -benchtime 7x ./pkg/workflow/template")
				for _, field := range regexp.MustCompile(`BenchmarkField/(\w+).*?(\d+) ns/op`).FindAllStringSubmatch(printed, -1) {
					f[field[1]+" ms"] = must(strconv.ParseFloat(field[2], 64)) / 1e6
					f["slowest ms"] = max(f["slowest ms"], f[field[1]+" ms"])
				}
				return f
			}}}
		}},
		{"registry of 10,000 types", 20, "", func(s *stage) []side { // of 100 servers
			s.servers(100, 10_000)
			return s.sides(inHome("search", search, "wall ms <= 30", "read file"), inHome("search, mistyped", search, "wall ms <= 30", "creat an isue on githbu"), inHome("search of 10,000 words", search, "wall ms <= 100", s.sh(unknownWords)),
				inHome("check", "pflow-lib check $W/w.json", "wall ms <= 20"))
		}},
		{"sync into a registry of 10,000 types", 5, "", func(s *stage) []side { // and a search right after it, without an index
			s.servers(100, 10_000)
			text, sync := s.sh("cat home/registry.json"), "pflow-sync sync suite"
			s.write("home/mcp-servers.json", `{"mcpServers":{"suite":{"command":"`+s.bin+`/pflow-serve"}}}`)
			again := func() { s.write("home/registry.json", text) }
			synced, searched := inHome("sync", sync, "wall ms <= 1000"), inHome("search", search, "wall ms <= 1000", "read file")
			synced.before, searched.before = again, func() { again(); s.sh(sync) }
			return s.sides(synced, searched)
		}},
		{"cold build", 0, "", func(s *stage) []side { // as in scripts/demo; the cache of modules is as it is
			build := func(name, packages, limits string) command {
				return command{name: name, line: "env CGO_ENABLED=0 GOCACHE=$W/cache go build -C $R -o $W/ " + packages, limits: limits}
			}
			return s.sides(build("programs of scripts/demo", "./cmd/pflow-lib ./cmd/pflow-exec ./cmd/pflow-sync ./cmd/pflow-serve", "CPU ms <= 100000"),
				build("then veloflux-mcp", "./cmd/veloflux-mcp", ""), build("then pflow-node-llm", "./cmd/pflow-node-llm", "CPU ms <= 60000"))
		}},
	}, serving()...)
}

// steps makes steps that do nothing, and runs commands.
func steps(n int, chain bool, commands ...command) func(*stage) []side {
	return func(s *stage) []side {
		s.steps(n, chain, nop)
		if s.old == "" && len(commands) > 2 { // one of them is go-task
			_ = s.cmd("GOBIN=$R/bin/tools go install github.com/go-task/task/v3/cmd/task@v3.53.1").Run()
		}
		return s.sides(commands...)
	}
}

// beside is a run next to other programs that run the same steps, two at a time.
func beside(toMake string) []command {
	return []command{
		{line: run, limits: "wall ms / make <= " + toMake + "; wall ms / ninja <= 1; wall ms / task <= 1"},
		{line: "make -j2 -f $W/w.mk"}, {line: "ninja -j2 --quiet -f $W/w.ninja"},
		{name: "task", line: "$R/bin/tools/task -C2 --silent --taskfile $W/w.yml all"},
	}
}

// inHome is a command that uses the home of the stage.
func inHome(name, line, limits string, args ...string) command {
	return command{name: name, line: line, limits: limits, args: args, home: true}
}

// once is a row with one side, which is measured once.
func once(limits string, measure func(s *stage) figures) func(*stage) []side {
	return func(s *stage) []side { return []side{{limits: limits, run: func() figures { return measure(s) }}} }
}
