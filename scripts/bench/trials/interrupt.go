package main

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

func (t *trial) prepare(w *workflow, file, runsOn string) {
	t.workflow, t.file, t.runsOn = *w, file, runsOn
	t.env["api_key"] = t.secret(false)
	t.put(file, t.json())
	t.put("claude", agent)
	t.put("server", server)
	env := object{"MARKS": t.marked, "NEVER": t.env["NEVER"], "STRAY": t.strayName, "SETSID": t.env["SETSID"]}
	t.put("home/mcp-servers.json", asJSON(object{"mcpServers": object{"trial": object{"command": filepath.Join(t.dir, "server"), "env": env}}}))
}

func (t *trial) kill() {
	t.prepare(t.draw(false), "workflow.json", "local")
	t.goOn(t.blow)
}

func (t *trial) supervise() {
	t.checkpoint = "run.ndjson"
	t.kill()
}

// runner has the nodes executed by a runner with an empty environment, and kills any process.
func (t *trial) runner() {
	t.put("home/settings.json", `{"runners":{"far":`+asJSON("env -i "+t.farEnd+" node; exit $?")+`}}`)
	must(os.Symlink(filepath.Join(t.programs, "pflow-exec"), t.farEnd))
	t.prepare(t.draw(true), "workflow.json", "far")
	t.goOn(func(c *call) {
		c.struck = t.await(c) && t.killOne("")
		found := processes(func(line, _ string) bool { return strings.Contains(line, t.env["api_key"]) })
		t.check(len(found) == 0, "found", "a secret is in command lines: %v", found)
	})
}

// goOn runs the workflow, strikes, and resumes the run until it has ended.
func (t *trial) goOn(strike func(*call)) {
	begin := "run"
	if t.checkpoint == "" && t.rng.IntN(5) == 0 {
		begin = "start"
	}
	c := t.bring(strike, "", "pflow-exec", begin, t.file)
	for ; c.killed || c.struck && (c.exit != 0 || c.last().Status == "failed") || c.beaten(); c = t.next(strike) { // following a run ends well, however that ended
		if c.killed && t.rng.IntN(3) == 0 {
			t.sweep()
		}
	}
	t.check(c.done(), "stuck", "the run does not go on: %s", c)
	if c.struck { // the runner of a detached run was killed after the end
		t.sweep()
	} else {
		t.verifyCleaned(c)
	}
	t.verify(c)
}

// bring starts or resumes a run, strikes, and waits until it has ended. A detached run is waited for by following its events.
func (t *trial) bring(strike func(*call), stdin string, line ...string) *call {
	if t.checkpoint != "" {
		line = append(line, "--checkpoint", t.checkpoint)
	}
	c := t.start(stdin, append(line, [][]string{nil, nil, {"--jobs", "1"}, {"--jobs", "3"}, {"--jobs", "8"}, {"--sync"}}[t.rng.IntN(6)]...)...)
	if line[1] == "start" {
		started := t.wait(c)
		if !c.done() {
			return c
		}
		c = t.start("", "pflow-exec", "events", started.last().RunID, "--follow")
		c.began, c.before, c.detached = started.began, started.before, true
	}
	if strike != nil {
		strike(c)
	}
	if t.wait(c); c.detached {
		c.killed = t.journal(c.line[2]).status == "interrupted"
	}
	return c
}

// next resumes the run; if no run has begun yet, it runs the workflow again. In two of three cases it strikes again.
func (t *trial) next(strike func(*call)) *call {
	if t.count["kills"] > 4 || t.rng.IntN(3) == 0 {
		strike = nil
	}
	ids := t.runs()
	if t.count["resumes"] += min(1, len(ids)); len(ids) == 0 || t.checkpoint != "" {
		return t.bring(strike, "", "pflow-exec", "run", t.file)
	}
	stream := t.calls[t.rng.IntN(len(t.calls))].stdout
	id, stdin := append(ids, "last")[t.rng.IntN(len(ids)+1)], ""
	line := []string{"pflow-exec", "run", t.file, "--resume", id}
	switch way := t.rng.IntN(6); {
	case way < 2:
		line = []string{"pflow-exec", "resume", id}
	case way == 2:
		line[1] = "start"
	case way < 5 && strings.HasPrefix(read(stream), `{"v":1,"seq":1,"event":"run_started"`) && strings.Contains(read(stream), "\n"):
		if line[4] = stream; way == 4 {
			line[4], stdin = "-", stream
		}
	}
	if strike == nil || line[1] == "start" || t.rng.IntN(4) > 0 {
		return t.bring(strike, stdin, line...)
	}
	// Another program resumes the run at the same time. The later one follows the run of the other, which may be killed, or fails with a conflict.
	rival := t.start("", "pflow-exec", "resume", "last")
	c := t.bring(strike, stdin, line...)
	t.wait(rival)
	t.check(rival.exit == 0 || rival.beaten() || rival.last().Status == "interrupted" && c.killed || c.struck, "", "while another program resumes the run: %s", rival)
	return c
}

// sweep starts a program that does not resume the run, and checks that it ends what killed runners have left.
func (t *trial) sweep() {
	t.gone(time.Now().Add(enough), func(line, env string) bool { return t.ours(line, env) && strings.Contains(line, "/pflow-exec\x00") }) // else it is still locked
	t.verifyCleaned(t.call([][]string{{"pflow-exec", "gc"}, {"pflow-sync", "sync", "trial"}}[t.rng.IntN(2)]...))
}

// verifyCleaned checks that a call, which has not been killed, ends in time what the runs before it have left.
func (t *trial) verifyCleaned(c *call) {
	t.gone(c.began.Add(enough), func(line, env string) bool {
		return slices.ContainsFunc(c.before, func(id string) bool {
			return strings.Contains(env, "\x00PFLOW_RUN_ID="+id+"\x00") || strings.Contains(line, "\x00"+t.strayName+id)
		})
	})
}

// condition is a reason for which a home, which is mounted with options if mount has some, cannot be written. begin and end are shell commands
// that start and end it; $0 is the home, and $1 a number below 1000. With inMidst it may begin during a run.
type condition struct {
	name, needs, mount string
	inMidst            bool
	begin, end         string
}

var conditions = []condition{
	{"space", mounting, "size=16m", true, `head -c $(($(df --output=avail "$0" | tail -n 1) * 1024 - $1 * 1200)) /dev/zero > "$0/filler" || :`, `rm "$0/filler"`},
	{"inodes", mounting, "size=64m,nr_inodes=1000", true, `mkdir "$0/filler"; touch $(seq -f "$0/filler/%.0f" $(($(df --output=iavail "$0" | tail -n 1) - $1 / 15))) || :`, `rm -r "$0/filler"`},
	{"read-only", mounting, "size=64m", false, `until mount -o remount,ro "$0"; do sleep 0.05; done`, `mount -o remount,rw "$0"`}, // what a killed process has started may keep it busy for a moment
	{"file size", "", "", false, `echo $((16 + $1 / 2)) > "$0/../limit"`, `rm "$0/../limit"`},
	{"permissions", otherUser, "", true, `chmod -R a-w "$0" || :`, `chmod -R u+w "$0"`}, // files disappear meanwhile
}

// asNobody runs a program as a user whom permissions stop, as they do not stop root.
var asNobody = []string{"setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"}

// suffer runs a saved workflow in a home that cannot be written from some moment on, makes it writable again, and resumes the run.
func (t *trial) suffer(is condition) {
	if is.mount != "" {
		must(command("mount", "-t", "tmpfs", "-o", is.mount, "tmpfs", t.home))
		defer func() {
			if len(t.wrong) > 0 {
				_ = command("cp", "-a", t.home, t.home+"-kept")
			}
			_ = command("umount", "--lazy", t.home)
		}()
	}
	t.prepare(t.draw(true), "home/library/saved.json", "local")
	t.file = "saved"
	t.wrap = []string{"sh", "-c", `test ! -e limit || ulimit -f "$(cat limit)"; exec "$0" "$@"`}
	if is.needs == otherUser && os.Getuid() == 0 {
		t.wrap = asNobody
		must(command("chown", "-R", "65534:65534", t.dir))
	}
	begun, when := false, t.rng.IntN(3)
	begin := func(now bool) {
		if now && !begun {
			must(command("sh", "-c", is.begin, t.home, strconv.Itoa(t.rng.IntN(1000))))
			begun = true
		}
	}
	begin(when == 1 || when == 2 && !is.inMidst)
	last := t.bring(func(c *call) {
		if when == 0 {
			t.blow(c)
		} else {
			begin(!begun && t.await(c))
		}
	}, "", "pflow-exec", "run", t.file)
	begin(!last.done())
	t.verifyRefusal(last)
	for n := t.rng.IntN(3); n > 0 && !last.done(); n-- {
		last = t.next(nil)
		t.verifyRefusal(last)
	}
	if ids := t.runs(); len(ids) > 0 { // commands that only read still work
		t.call("pflow-exec", "status", ids[0])
		t.call("pflow-exec", "events", ids[len(ids)-1])
		t.call("pflow-exec", "list")
	}
	if begun {
		must(command("sh", "-c", is.end, t.home))
	}
	for n := 0; n < 3 && !last.done(); n++ { // one is enough, unless no run was created
		last = t.next(nil)
		t.check(last.done(), "stuck", "with a writable home: %s", last)
	}
	t.verify(last)
}

// verifyRefusal checks that a program that could not write reports this and what to do, without internal details.
func (t *trial) verifyRefusal(c *call) {
	for _, inside := range []string{"panic", "goroutine", "runtime error", "%!", "&{", "map[", "0xc0", "PathError", "*fs.", t.home} {
		t.check(!strings.Contains(read(c.stderr), inside), "", "%q is printed: %s", inside, c)
	}
	message := c.last().Error.Message
	whole := message + " " + strings.Join(c.last().Error.Suggestions, " ")
	why := slices.ContainsFunc([]string{"no space left on device", "read-only file system", "permission denied", "file too large"}, func(s string) bool { return strings.Contains(message, s) })
	t.check(c.killed || c.exit == 0 || c.exit < 3 && strings.HasSuffix(read(c.stdout), "\n") && why && strings.Contains(whole, "home") && !strings.Contains(whole, t.home), "", "the error is not clear: %q, %s", whole, c)
}
