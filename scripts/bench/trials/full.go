package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// condition is a reason for which a home cannot be written for some time.
type condition struct {
	name string
	// mount has the options with which the home is mounted; it is "" if the home is a plain folder. user is true if a user other
	// than root runs the programs.
	mount string
	user  bool
	// begin starts the condition and end ends it. With inMidst it begins during the first run; with after it may also begin after
	// a killed run; otherwise it begins before the first run.
	begin, end     func(*trial) error
	inMidst, after bool
}

// nobody is the user who runs the programs, through the command asNobody, if permissions do not stop root.
const nobody = "65534"

var asNobody = []string{"setpriv", "--reuid", nobody, "--regid", nobody, "--clear-groups"}

// conditions returns the conditions that are possible on this machine, and the results that say why others are skipped.
func (r *rig) conditions() (possible []condition, skipped []*result) {
	const roomy = "size=64m,nr_inodes=10000"
	large := func(t *trial) error { return t.remount(roomy) }
	filler := func(t *trial) string { return filepath.Join(t.home, "filler") }
	mounted := []condition{
		{name: "space", mount: roomy, end: large,
			begin: func(t *trial) error { return t.remount("size=" + strconv.Itoa(t.used()+t.rng.IntN(1200)) + "k") }},
		{name: "inodes", mount: roomy, end: large,
			begin: func(t *trial) error { return t.remount("nr_inodes=" + strconv.Itoa(5+t.rng.IntN(70))) }},
		{name: "filled", mount: "size=16m", inMidst: true, end: func(t *trial) error { return os.Remove(filler(t)) },
			begin: func(t *trial) error {
				err := os.WriteFile(filler(t), make([]byte, 17<<20), 0o600)
				if err == nil {
					return errors.New("the home is not full")
				}
				return nil
			}},
		{name: "read-only", mount: roomy, after: true, end: func(t *trial) error { return t.remount("rw") },
			begin: func(t *trial) error { return t.remount("ro") }},
	}
	anywhere := []condition{
		{name: "file size", begin: func(t *trial) error {
			t.wrap, t.piped = []string{"sh", "-c", `ulimit -f "$0"; exec "$@"`, strconv.Itoa(16 + t.rng.IntN(500))}, true
			return nil
		}, end: func(t *trial) error { t.wrap, t.piped = nil, false; return nil }},
	}
	permissions := condition{name: "permissions", user: os.Getuid() == 0, inMidst: true,
		begin: func(t *trial) error {
			_ = command("chmod", "-R", "a-w", t.home) // it fails for files that disappear meanwhile
			return nil
		},
		end: func(t *trial) error { return command("chmod", "-R", "u+w", t.home) }}
	if !permissions.user || command("setpriv", append(slices.Clone(asNobody[1:]), "sh", "-c", `test -x "$0" && cd "$1"`, r.program("pflow-exec"), r.dir)...) == nil {
		anywhere = append(anywhere, permissions)
	} else {
		skipped = append(skipped, newResult(permissions.name, "skipped: root needs setpriv, and a folder that other users can enter"))
	}
	if r.mounts {
		return append(mounted, anywhere...), skipped
	}
	for _, c := range mounted {
		skipped = append(skipped, newResult(c.name, "skipped: mounting needs root"))
	}
	return anywhere, skipped
}

// try runs a saved workflow in a home that cannot be written from some moment on, makes it writable again, and resumes the run
// until it has succeeded.
func (c condition) try(t *trial) (err error) {
	t.workflow = *filling(t.rng)
	if c.mount != "" {
		if err := t.mount(c.mount); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, t.unmount()) }()
	}
	t.file = "filling"
	saved := filepath.Join(t.home, "library", "filling.json")
	if err := errors.Join(os.MkdirAll(filepath.Dir(saved), 0o700), os.WriteFile(saved, t.json(), 0o600)); err != nil {
		return err
	}
	if c.user {
		t.wrap = asNobody
		if err := command("chown", "-R", nobody+":"+nobody, t.dir); err != nil {
			return err
		}
	}
	last, err := c.suffer(t)
	if err != nil {
		return err
	}
	if err := c.end(t); err != nil {
		return err
	}
	for range 3 { // one is enough, unless no run was created
		if last.done() {
			break
		}
		stdin, args := t.goOn()
		if last, err = t.bring(moment{}, stdin, args...); err != nil {
			return err
		}
		if !last.done() {
			t.complain("%s, with a writable home: %s: %s", last, last.end(), quote(last.stderr))
		}
	}
	t.verify(last)
	return nil
}

// suffer calls the programs while the condition begins and lasts.
func (c condition) suffer(t *trial) (last *call, err error) {
	switch {
	case c.inMidst:
		at := moment{effects: 1 + t.rng.IntN(len(t.effects)), after: t.soon(2 * time.Millisecond)}
		begun, ended := make(chan error, 1), make(chan struct{})
		go func() {
			t.reached(at, 0, ended)
			begun <- c.begin(t)
		}()
		last, err = t.call(moment{}, "", "run", t.file)
		close(ended)
		err = errors.Join(err, <-begun)
	case c.after && t.rng.IntN(3) > 0:
		if last, err = t.call(t.moment(), "", "run", t.file); last.killed {
			t.Kills++
		}
		err = errors.Join(err, c.begin(t))
	default:
		if err := c.begin(t); err != nil {
			return nil, err
		}
		last, err = t.call(moment{}, "", "run", t.file)
	}
	if err != nil {
		return nil, err
	}
	t.verifyRefusal(last)
	for range t.rng.IntN(3) {
		if last.done() {
			return last, nil
		}
		stdin, args := t.goOn()
		if last, err = t.bring(moment{}, stdin, args...); err != nil {
			return nil, err
		}
		t.verifyRefusal(last)
	}
	return last, t.verifyReaders()
}

// used returns the size of the home's files in kilobytes, in whole pages and a bit more.
func (t *trial) used() int { return 8 + len(t.json())/4096*4 }

// verifyRefusal checks that a program that could not write reports this and what to do, without internal details.
func (t *trial) verifyRefusal(c *call) {
	said, err := os.ReadFile(c.stderr)
	if err != nil {
		t.complain("cannot read the messages of %s", c)
	}
	for _, inside := range []string{"panic", "goroutine", "runtime error", "%!", "&{", "map[", "0xc0", "PathError", "*fs.", t.home} {
		if strings.Contains(string(said), inside) {
			t.complain("%s prints %q: %s", c, inside, quote(c.stderr))
		}
	}
	if c.killed || c.exit == 0 {
		return
	}
	if c.exit != 1 && c.exit != 2 {
		t.complain("%s: exit status %d", c, c.exit)
	}
	text, _ := os.ReadFile(c.stdout)
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	var last event
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil || last.Error == nil || !strings.HasSuffix(string(text), "\n") {
		t.complain("%s: standard output does not end with an error: %q", c, lines[len(lines)-1])
		return
	}
	whole := last.Error.Message + " " + strings.Join(last.Error.Suggestions, " ")
	reasons := []string{"no space left on device", "read-only file system", "permission denied", "file too large"}
	if !slices.ContainsFunc(reasons, func(r string) bool { return strings.Contains(last.Error.Message, r) }) ||
		!strings.Contains(whole, "home") || strings.Contains(whole, t.home) {
		t.complain("%s: the error is not clear: %s", c, whole)
	}
}

// verifyReaders checks that commands that only read still work.
func (t *trial) verifyReaders() error {
	ids := t.runs()
	if len(ids) == 0 {
		return nil
	}
	id := ids[len(ids)-1]
	for _, args := range [][]string{{"status", id}, {"list"}, {"events", id}} {
		c, err := t.call(moment{}, "", args...)
		if err != nil {
			return err
		}
		if c.exit != 0 {
			t.complain("%s, with a home that cannot be written: exit status %d: %s", c, c.exit, quote(c.stderr))
		}
	}
	return nil
}
