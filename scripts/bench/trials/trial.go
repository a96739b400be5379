package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// trial is one run, in its own folder, that is resumed until it has ended.
type trial struct {
	rig *rig
	rng *rand.Rand
	workflow
	// dir has the home, the file of side effects and the output of each program. file is the workflow's path or name.
	dir, home, file, effectsFile string
	// env has the variables of the programs, and of what they start.
	env map[string]string
	// strayName begins the last argument of each process that a node leaves; the run's id follows.
	strayName string
	// wrap is a command that starts every program, such as setpriv. With piped the standard output is a pipe, to which no limit
	// on file sizes applies.
	wrap  []string
	piped bool

	calls []*call
	counts
	// wrong has the problems found.
	wrong []string
}

// newTrial creates a trial and its folder. The same seed gives the same trial.
func newTrial(r *rig, kind string, seed uint64) (*trial, error) {
	t := &trial{rig: r, rng: rand.New(rand.NewPCG(seed, seed))}
	t.dir = filepath.Join(r.dir, fmt.Sprintf("%s-%d", strings.ReplaceAll(kind, " ", "-"), seed))
	t.home, t.effectsFile = filepath.Join(t.dir, "home"), filepath.Join(t.dir, "effects.txt")
	never := filepath.Join(t.dir, "never")
	t.strayName = fmt.Sprintf("stray-of-%s-%d-", filepath.Base(r.dir), seed)
	t.env = map[string]string{
		"PATH": r.programs + string(filepath.ListSeparator) + os.Getenv("PATH"), "HOME": t.dir, "PFLOW_HOME": t.home, "LC_ALL": "C",
		"EFFECTS": t.effectsFile, "NEVER": never, "STRAY": t.strayName, "SETSID": r.setsid,
	}
	return t, errors.Join(os.MkdirAll(t.home, 0o700), os.WriteFile(t.effectsFile, nil, 0o600), unix.Mkfifo(never, 0o600))
}

// counts are what the trials count.
type counts struct {
	Kills   int `json:"kills"`
	Resumes int `json:"resumes"`
	// Repeated counts the nodes, items and iterations that ran again after they had finished.
	Repeated int `json:"repeated"`
	// Orphans counts the processes that killed runners left, and Left those of them that the next program did not end in time.
	Orphans int `json:"orphans"`
	Left    int `json:"left"`
	// Stuck counts the runs that could not be resumed.
	Stuck int `json:"stuck"`
	// Keys counts the nodes, items and iterations that ran more than once, and Changed those whose key was not the same each time.
	Keys    int `json:"keys"`
	Changed int `json:"changed"`
	// Found counts the forms of secrets that were found where they must not be.
	Found int `json:"found"`
}

func (c *counts) add(d counts) {
	c.Kills, c.Resumes, c.Repeated, c.Orphans = c.Kills+d.Kills, c.Resumes+d.Resumes, c.Repeated+d.Repeated, c.Orphans+d.Orphans
	c.Left, c.Stuck, c.Keys, c.Changed, c.Found = c.Left+d.Left, c.Stuck+d.Stuck, c.Keys+d.Keys, c.Changed+d.Changed, c.Found+d.Found
}

// complain records a problem.
func (t *trial) complain(format string, args ...any) {
	t.wrong = append(t.wrong, fmt.Sprintf(format, args...))
}

// effectCount returns the number of side effects so far.
func (t *trial) effectCount() int {
	b, _ := os.ReadFile(t.effectsFile)
	return bytes.Count(b, []byte("\n"))
}

// runs returns the ids of the home's runs, the oldest first.
func (t *trial) runs() []string {
	entries, _ := os.ReadDir(filepath.Join(t.home, "runs"))
	var ids []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "r") {
			ids = append(ids, e.Name())
		}
	}
	return ids
}

// strays returns the temporary files and folders that are left among the runs. Their names begin with a dot and have a digit.
func (t *trial) strays() []string {
	var found []string
	_ = filepath.WalkDir(filepath.Join(t.home, "runs"), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && strings.HasPrefix(entry.Name(), ".") && strings.ContainsAny(entry.Name(), "0123456789") {
			found = append(found, path)
		}
		return nil
	})
	return found
}

// goOn returns the arguments of one of the ways to resume the run, and the file for standard input. If no run has begun yet, they
// run the workflow again.
func (t *trial) goOn() (stdin string, args []string) {
	ids := t.runs()
	if len(ids) == 0 {
		return "", t.flags("run", t.file)
	}
	var streams []string
	for _, c := range t.calls {
		if b, err := os.ReadFile(c.stdout); err == nil && bytes.HasPrefix(b, []byte(`{"v":1,"seq":1,"event":"run_started"`)) && bytes.Contains(b, []byte("\n")) {
			streams = append(streams, c.stdout)
		}
	}
	t.Resumes++
	id := t.pick(ids)
	if t.rng.IntN(3) == 0 {
		id = "last"
	}
	ways := 4
	if len(streams) > 0 {
		ways = 6
	}
	switch t.rng.IntN(ways) {
	case 0, 1:
		return "", t.flags("resume", id)
	case 2:
		return "", t.flags("run", t.file, "--resume", id)
	case 3:
		return "", t.flags("start", t.file, "--resume", id)
	case 4:
		return "", t.flags("run", t.file, "--resume", t.pick(streams))
	default:
		return t.pick(streams), t.flags("run", t.file, "--resume", "-")
	}
}

// flags adds random flags that change how a run is executed.
func (t *trial) flags(args ...string) []string {
	if t.rng.IntN(2) == 0 {
		args = append(args, "--jobs", strconv.Itoa(1+t.rng.IntN(8)))
	}
	if t.rng.IntN(6) == 0 {
		args = append(args, "--sync")
	}
	return args
}

// pick returns the last element in half of the cases, and otherwise any.
func (t *trial) pick(from []string) string {
	if t.rng.IntN(2) == 0 {
		return from[len(from)-1]
	}
	return from[t.rng.IntN(len(from))]
}
