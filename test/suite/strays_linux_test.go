package suite

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
)

// strayServer configures an MCP server that starts two processes in sessions of their own, the second without environment,
// and then becomes the given command. The file NAME.begun exists when both have begun.
func (p *place) strayServer(name, command string) {
	p.Helper()
	seconds := p.straySeconds()
	p.write(name+".sh", fmt.Sprintf(`rm -f marked bare
(setsid sh -c 'echo > marked; exec sleep %s' >/dev/null 2>&1 &)
(env -i "$(command -v setsid)" sh -c 'echo > bare; exec sleep %s' >/dev/null 2>&1 &)
until test -e marked && test -e bare; do sleep 0.01; done
echo > %s.begun
exec %s
`, seconds, seconds, name, command))
	p.must("pflow-sync", "add", name, "--", "sh", filepath.Join(p.dir, name+".sh"))
	p.Cleanup(func() { // of a test that failed
		for _, pid := range p.straySleeps() {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
}

// straySeconds returns the argument that identifies the sleeps of this place.
func (p *place) straySeconds() string {
	var sum uint32
	for _, c := range []byte(p.dir) {
		sum = sum*31 + uint32(c)
	}
	return fmt.Sprintf("54320.%d%d", os.Getpid(), sum)
}

// straySleeps returns the sleeps that the servers of this place have started.
func (p *place) straySleeps() (pids []int) {
	commands, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range commands {
		command, _ := os.ReadFile(path)
		var pid int
		if _, err := fmt.Sscanf(path, "/proc/%d/", &pid); err == nil && strings.Contains(string(command), p.straySeconds()) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// checkNoStrays fails the test if a process of a server or a claim is left.
func (p *place) checkNoStrays(what string) {
	p.Helper()
	if left := p.straySleeps(); len(left) > 0 {
		p.Errorf("%s: %d processes are left: %v", what, len(left), left)
	}
	if claims := p.claims(); len(claims) > 0 {
		p.Errorf("%s: the home still has %q", what, claims)
	}
}

// claims returns the names of the files of live programs.
func (p *place) claims() (names []string) {
	entries, _ := os.ReadDir(filepath.Join(p.home, "live"))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// What an MCP server has started ends with the command that started the server, even in a session of its own.
func TestWhatAServerStartsEndsWithTheCommand(t *testing.T) {
	t.Parallel()
	needs(t, "setsid")
	p := newPlace(t)
	p.strayServer("front", "pflow-serve")
	p.write("w.json", `{"nodes":[{"id":"a","type":"mcp-front-list_library","params":{}}]}`)
	for _, line := range []string{"pflow-sync sync front", "pflow-sync call front list_library", "pflow-exec run w.json"} {
		args := strings.Fields(line)
		p.must(args[0], args[1:]...)
		if !p.exists("front.begun") {
			t.Errorf("%s: the server has started nothing", line)
		}
		p.checkNoStrays(line)
		_ = os.Remove(filepath.Join(p.dir, "front.begun"))
	}
	// The processes also end when a signal stops the command.
	p.strayServer("hung", "sleep 1000")
	for _, line := range []string{"pflow-sync sync hung", "pflow-sync call hung x", "pflow-exec run hung.json"} {
		p.write("hung.json", `{"nodes":[{"id":"a","type":"mcp-hung-x","params":{}}]}`)
		args := strings.Fields(line)
		cmd := p.command(args[0], args[1:]...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		p.eventually("the server has begun", func() bool { return p.exists("hung.begun") })
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
		if cmd.ProcessState.ExitCode() != 143 {
			t.Errorf("%s: %s", line, cmd.ProcessState)
		}
		p.checkNoStrays(line + ", stopped")
		_ = os.Remove(filepath.Join(p.dir, "hung.begun"))
	}
}

// What a node leaves running ends with the run, unless it is a run that was started apart.
func TestWhatANodeLeavesRunningEndsWithTheRun(t *testing.T) {
	t.Parallel()
	needs(t, "setsid")
	p := newPlace(t)
	apart := p.gate("apart")
	p.write("apart.json", chain("read x < apart"))
	p.write("w.json", chain("pflow-exec start apart.json; (setsid sh -c 'echo > begun; exec sleep "+p.straySeconds()+"' >/dev/null 2>&1 &); until test -e begun; do sleep 0.01; done"))
	p.must("pflow-exec", "run", "w.json")
	open := apart.reached()
	if left := p.straySleeps(); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
	open()
	if a := p.document(p.must("pflow-exec", "wait", "last")); a["status"] != "completed" {
		t.Errorf("the run that was started apart: %v", a)
	}
	p.eventually("no program is live", func() bool { return len(p.claims()) == 0 })
}

// killedWithStrays starts a command whose server hangs, and kills it when the server has started its processes. Those with
// the command's mark are left.
func (p *place) killedWithStrays(line string) {
	p.Helper()
	_ = os.Remove(filepath.Join(p.dir, "hung.begun"))
	args := strings.Fields(line)
	cmd := p.command(args[0], args[1:]...)
	if err := cmd.Start(); err != nil {
		p.Fatal(err)
	}
	p.eventually("the server has begun", func() bool { return p.exists("hung.begun") })
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	for _, pid := range p.straySleeps() { // nothing can find the one without an environment
		if env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid)); err == nil && !strings.Contains(string(env), "PFLOW_HOME=") {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	p.eventually("only the process with the mark is left", func() bool { return len(p.straySleeps()) == 1 })
}

// The next command ends what a killed runner and a killed pflow-sync left behind, and nothing else.
func TestTheNextCommandEndsWhatAKilledOneLeft(t *testing.T) {
	t.Parallel()
	needs(t, "setsid")
	p, other := newPlace(t), newPlace(t)
	for _, p := range []*place{p, other} {
		p.strayServer("hung", "sleep 1000")
		p.write("hung.json", `{"nodes":[{"id":"a","type":"mcp-hung-x","params":{}}]}`)
	}
	other.killedWithStrays("pflow-exec run hung.json")
	g := p.gate("gate")
	p.write("live.json", chain("(setsid sh -c 'echo > apart.begun; exec sleep 1000' >/dev/null 2>&1 &); cat gate; true"))
	p.write("short.json", chain("echo short"))
	p.must("pflow-sync", "add", "front", "--", "pflow-serve")
	live := p.started("live.json")
	open := g.reached()
	p.eventually("the live run has a process apart", func() bool { return p.exists("apart.begun") })
	done := fmt.Sprint(p.last(p.must("pflow-exec", "run", "short.json"))["run"]) // resuming it runs nothing
	pids := func() []int { return slices.Sorted(maps.Keys(processes("PFLOW_RUN_ID=" + live))) }
	before := pids()

	for _, killed := range []string{"pflow-exec run hung.json", "pflow-sync call hung x"} {
		for _, next := range []string{"pflow-exec run short.json", "pflow-exec start short.json", "pflow-exec resume last", "pflow-exec resume " + done, "pflow-exec gc", "pflow-sync call front list_library"} {
			if next == "pflow-exec resume last" {
				p.write("again.json", chain("test -e ok"))
				_ = os.Remove(filepath.Join(p.dir, "ok"))
				failed := p.last(p.run("pflow-exec", "run", "again.json").stdout)
				p.write("ok", "")
				next = fmt.Sprint("pflow-exec resume ", failed["run"])
			}
			p.killedWithStrays(killed)
			began := time.Now()
			args := strings.Fields(next)
			p.must(args[0], args[1:]...)
			p.eventually("what "+killed+" left is gone after "+next, func() bool { return len(p.straySleeps()) == 0 })
			if took := time.Since(began); took > soon {
				t.Errorf("%s after the death of %s: it took %s", next, killed, took)
			}
		}
	}

	// Several commands at the same time, and those of a copy of the home.
	p.killedWithStrays("pflow-exec run hung.json")
	if err := os.CopyFS(filepath.Join(p.dir, "copy"), os.DirFS(p.home)); err != nil {
		t.Fatal(err)
	}
	inCopy := p.command("pflow-exec", "run", "short.json")
	inCopy.Env = append(inCopy.Env, "PFLOW_HOME="+filepath.Join(p.dir, "copy"))
	if err := inCopy.Run(); err != nil {
		t.Error(err)
	}
	if len(p.straySleeps()) != 1 {
		t.Error("a run in a copy of the home ended processes of this home")
	}
	var runs errgroup.Group
	for range 6 {
		runs.Go(func() error { return p.command("pflow-exec", "run", "short.json").Run() })
	}
	if err := runs.Wait(); err != nil {
		t.Error(err)
	}
	p.eventually("nothing of the killed run is left", func() bool { return len(p.straySleeps()) == 0 })

	if after := pids(); len(before) < 3 || !slices.Equal(after, before) {
		t.Errorf("the live run had the processes %v, and now %v", before, after)
	}
	if len(other.straySleeps()) != 1 {
		t.Error("the processes of another home were ended")
	}
	open()
	if a := p.document(p.must("pflow-exec", "wait", live)); a["status"] != "completed" {
		t.Errorf("the live run: %v", a)
	}
	p.eventually("no program is live", func() bool { return len(p.claims()) == 0 })
	other.must("pflow-exec", "gc")
	other.checkNoStrays("gc in the other home")
}

// What a node program starts when it describes itself ends with pflow-sync nodes: at its end, when a signal stops it, and with
// the next command after it was killed.
func TestWhatADescribedProgramStartsEnds(t *testing.T) {
	t.Parallel()
	needs(t, "setsid")
	p := newPlace(t)
	program := func(rest string) {
		p.must("chmod", "+x", p.write("home/nodes/pflow-node-stray", `#!/bin/sh
(setsid sh -c 'echo > `+p.dir+`/hung.begun; exec sleep `+p.straySeconds()+`' >/dev/null 2>&1 &)
until test -e `+p.dir+`/hung.begun; do sleep 0.01; done
`+rest))
	}
	program(`echo '{"interface":{"description":"Leave a process"}}'`)
	p.must("pflow-sync", "nodes")
	p.checkNoStrays("pflow-sync nodes")

	program("sleep " + p.straySeconds() + "\n")
	_ = os.Remove(filepath.Join(p.dir, "hung.begun"))
	cmd := p.command("pflow-sync", "nodes")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.eventually("the program has begun", func() bool { return p.exists("hung.begun") })
	_ = cmd.Process.Signal(syscall.SIGTERM)
	if _ = cmd.Wait(); cmd.ProcessState.ExitCode() != 143 {
		t.Errorf("%s", cmd.ProcessState)
	}
	p.checkNoStrays("pflow-sync nodes, stopped")

	_ = os.Remove(filepath.Join(p.dir, "hung.begun"))
	cmd = p.command("pflow-sync", "nodes")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.eventually("the program has begun", func() bool { return p.exists("hung.begun") })
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if len(p.straySleeps()) == 0 {
		t.Error("nothing was left")
	}
	p.must("pflow-exec", "gc")
	p.checkNoStrays("the next command")
}
