package suite

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
)

// fates are the ends of the runs of a crowd, ten of them in turn. Runs that end at once do so while others start.
var fates = [...]string{
	"completed", "failed", "cancelled", "killed", "resumed", "completed", "failed", "cancelled at once", "killed at once", "completed",
}

// starts is how many runs of a crowd start at the same time.
const starts = 20

// member is one run of a crowd.
type member struct {
	fate     string
	file, id string
	gate     *gate
	open     func()
}

// ends returns the status of the run when its fate has come about.
func (m *member) ends() string {
	switch what, _, _ := strings.Cut(m.fate, " "); what {
	case "killed", "resumed":
		return "interrupted"
	default:
		return what
	}
}

// crowd is many runs in one home.
type crowd struct {
	*place
	members []*member
	// old are the earlier runs, of which all but a few are removed.
	old  []string
	over atomic.Bool
}

// spared is how many of the old runs are kept.
const spared = 5

// Many runs at once in one home, while other processes read it: no command fails, and no command reports a wrong state.
func TestACrowd(t *testing.T) {
	t.Parallel()
	size := 100
	if testing.Short() {
		size = 20
	}
	c := &crowd{place: newPlace(t), members: make([]*member, size)}
	c.write("old.json", chain("echo first"))
	for range 4 * spared {
		id, _ := c.last(c.must("pflow-exec", "run", "old.json"))["run"].(string)
		c.old = append(c.old, id)
	}
	for i := range c.members {
		name := strconv.Itoa(i)
		m := &member{fate: fates[i%len(fates)], file: name + ".json", gate: c.gate("gate" + name)}
		c.members[i] = m
		c.write(m.file, chain("echo first", "read x < gate"+name+"; test "+m.fate+" != failed", "echo third"))
	}
	lists, statuses, removals := c.watch(c.list), c.watch(c.statuses), c.watch(c.remove)
	c.each(c.start)
	c.each(func(m *member) {
		if m.open != nil {
			c.end(m)
		}
	})
	c.over.Store(true)
	c.checkReported("list", <-lists)
	c.checkReported("status", <-statuses)
	<-removals
	c.remove()
	c.checkEnds()
}

// each calls do for every member, for some of them at the same time.
func (c *crowd) each(do func(m *member)) {
	places, done := make(chan bool, starts), make(chan bool)
	for _, m := range c.members {
		go func() {
			defer func() { done <- true }()
			places <- true
			defer func() { <-places }()
			do(m)
		}()
	}
	for range c.members {
		<-done
	}
}

// start starts a run and ends it if that is its fate; otherwise it waits until the run waits.
func (c *crowd) start(m *member) {
	m.id = c.answer("run_id", "pflow-exec", "start", m.file)
	if strings.HasSuffix(m.fate, "at once") {
		c.end(m)
		return
	}
	m.open = m.gate.reached()
}

// end brings about the fate of a run.
func (c *crowd) end(m *member) {
	switch m.fate {
	case "completed", "failed":
		m.open()
	case "cancelled", "cancelled at once":
		if status := c.answer("status", "pflow-exec", "cancel", m.id); status != "cancelled" {
			c.Errorf("a run that is cancelled answers that it is %s", status)
		}
	default:
		pid, err := strconv.Atoi(strings.TrimSpace(c.read("home/runs/" + m.id + "/lock")))
		if err != nil {
			c.Error(err)
			return
		}
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	if o := c.run("pflow-exec", "wait", m.id); c.document(o.stdout)["status"] != m.ends() {
		c.Errorf("wait for one that is %s: %s", m.fate, o)
	}
	if m.fate == "resumed" {
		c.resume(m)
	}
}

func (c *crowd) resume(m *member) {
	opened := make(chan bool)
	go func() {
		defer close(opened)
		m.gate.reached()()
	}()
	if status := c.answer("status", "pflow-exec", "resume", m.id, "--format", "json", "--quiet"); status != "completed" {
		c.Errorf("resumed, a run is %s", status)
	}
	<-opened
}

// answer runs a program that must succeed with empty standard error, and returns one text of its answer.
func (c *crowd) answer(key string, name string, args ...string) string {
	o := c.run(name, args...)
	if o.exit != 0 || o.stderr != "" {
		c.Errorf("%s %q: %s", name, args, o)
	}
	text, _ := c.document(o.stdout)[key].(string)
	return text
}

// list returns the list of all runs.
func (c *crowd) list() []map[string]any {
	o := c.run("pflow-exec", "list")
	if o.exit != 0 || o.stderr != "" {
		c.Errorf("list: %s", o)
	}
	return c.events(o.stdout)
}

// statuses returns the status of each run.
func (c *crowd) statuses() (reported []map[string]any) {
	for _, path := range c.journals() {
		id := filepath.Base(filepath.Dir(path))
		o := c.run("pflow-exec", "status", id)
		if o.exit == 2 && slices.Contains(c.old, id) { // it has been removed
			continue
		}
		if o.exit != 0 || o.stderr != "" {
			c.Errorf("status: %s", o)
		}
		reported = append(reported, c.document(o.stdout))
	}
	return reported
}

// remove removes old runs, as far as there are newer ones.
func (c *crowd) remove() []map[string]any {
	newer := len(c.members) + len(c.members)/len(fates) // with those that went on from others
	if o := c.run("pflow-exec", "gc", "--keep", strconv.Itoa(newer+spared)); o.exit != 0 || o.stderr != "" {
		c.Errorf("gc: %s", o)
	}
	return nil
}

// watch lists the runs repeatedly until all have ended, and returns the sequence of states of each by its id.
func (c *crowd) watch(look func() []map[string]any) <-chan map[string][]string {
	all := make(chan map[string][]string)
	go func() {
		states := map[string][]string{}
		defer func() { all <- states }()
		for !c.over.Load() {
			for _, reported := range look() {
				id, _ := reported["run_id"].(string)
				state, _ := reported["status"].(string)
				if known := states[id]; len(known) == 0 || known[len(known)-1] != state {
					states[id] = append(known, state)
				}
			}
		}
	}()
	return all
}

// ends returns the ends of the runs by their ids. Other runs have resumed one of these.
func (c *crowd) ends() map[string]string {
	ends := map[string]string{}
	for _, id := range c.old {
		ends[id] = "completed"
	}
	for _, m := range c.members {
		ends[m.id] = m.ends()
	}
	return ends
}

// checkReported checks that each run was listed as running, if at all, and then with its end.
func (c *crowd) checkReported(who string, reported map[string][]string) {
	ends := c.ends()
	for id, states := range reported {
		end, known := ends[id]
		if !known {
			end = "completed"
		}
		if !slices.Contains([]string{"running", end, "running " + end}, strings.Join(states, " ")) {
			c.Errorf("%s reported a run that ends as %s as %q", who, end, states)
		}
	}
}

// checkEnds checks the list of the runs when all have ended.
func (c *crowd) checkEnds() {
	ends, resumed := c.ends(), 0
	for _, reported := range c.list() {
		id, _ := reported["run_id"].(string)
		end, known := ends[id]
		if !known {
			end, resumed = "completed", resumed+1
		}
		if reported["status"] != end {
			c.Errorf("at the end run %s is listed as %v, not %s", id, reported["status"], end)
		}
		delete(ends, id)
	}
	for _, id := range c.old[:len(c.old)-spared] {
		if _, gone := ends[id]; !gone {
			c.Errorf("old run %s is still there", id)
		}
		delete(ends, id)
	}
	if len(ends) > 0 || resumed != len(c.members)/len(fates) {
		c.Errorf("%d runs are not listed, and %d went on from others: %v", len(ends), resumed, ends)
	}
	for _, path := range c.journals() {
		journal, err := os.ReadFile(path)
		if err != nil {
			c.Error(err)
		}
		c.events(string(journal)) // whole lines
	}
}
