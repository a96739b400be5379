// Package fakeprograms has programs of the suite as shell scripts, for tests of what starts them.
package fakeprograms

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Folder is a folder of programs. Each notes how it is called.
type Folder struct {
	testing.TB
	Dir string
}

// New returns an empty folder, which is removed with the test.
func New(t testing.TB) *Folder {
	t.Helper()
	return &Folder{TB: t, Dir: t.TempDir()}
}

// Env returns the environment in which the scripts find the folder, as DIR.
func (f *Folder) Env() []string { return []string{"PATH=/usr/bin:/bin", "DIR=" + f.Dir} }

// Program writes a program whose version is 1.0 and which otherwise does what the script says. The script does not
// see --hints=tools and --max-bytes=8192, which every call of a tool has.
func (f *Folder) Program(name, script string) {
	f.Helper()
	f.At(f.Dir, name, "1.0", script)
}

// At writes a program of another version, or into another folder.
func (f *Folder) At(dir, name, version, script string) {
	f.Helper()
	text := "#!/bin/sh\nif [ \"$1\" = --version ]; then echo " + name + " " + version + "; exit; fi\n" +
		"case \"$1\" in --hints=tools*) shift; echo " + name + " >> \"$DIR/addressed\";; esac\n" +
		"if [ \"$1\" = --max-bytes=8192 ]; then shift; echo " + name + " >> \"$DIR/limited\"; fi\n" +
		"echo " + name + " \"$*\" >> \"$DIR/calls\"\n" + script + "\n"
	Write(f, filepath.Join(dir, name), text)
}

// Write writes a script that a test is about to run.
func Write(t testing.TB, path, script string) {
	t.Helper()
	// A child that another test starts meanwhile would have the file open for writing until it executes its program, and a file that is
	// written cannot be executed.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
}

// Calls returns the command lines of the programs that were started, except those that ask for a version.
func (f *Folder) Calls() []string {
	f.Helper()
	b, err := os.ReadFile(filepath.Join(f.Dir, "calls"))
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimSpace(string(b)), "\n")
}
