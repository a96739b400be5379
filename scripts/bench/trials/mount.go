package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"time"
)

// mountNamespace returns the beginning of a command that starts a program in a new mount namespace, so that no mount outlives it.
// It returns nil if that is not permitted.
func mountNamespace() []string {
	enter := []string{"unshare", "--mount", "--propagation", "private", "--"}
	try := append(slices.Clone(enter), "sh", "-c", "mount -t tmpfs -o size=64k tmpfs /mnt && touch /mnt/a")
	if os.Getuid() != 0 || exec.Command(try[0], try[1:]...).Run() != nil {
		return nil
	}
	return enter
}

// again starts this program again through another command, with more arguments, and returns its exit status.
func again(by []string, more ...string) (status int, err error) {
	self, err := os.Executable()
	if err != nil {
		return 2, err
	}
	line := slices.Concat(by, []string{self}, os.Args[1:], more)
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), nil
	}
	return 0, err
}

// mount mounts a small file system on the home.
func (t *trial) mount(options string) error {
	return command("mount", "-t", "tmpfs", "-o", options, "tmpfs", t.home)
}

// remount changes the options. It tries again, because a child of a killed process may keep the home busy for a moment.
func (t *trial) remount(options string) (err error) {
	for range 100 {
		if err = command("mount", "-o", "remount,"+options, t.home); err == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	return err
}

// unmount unmounts the file system. If the trial has failed, it first copies the files.
func (t *trial) unmount() error {
	if len(t.wrong) > 0 {
		if err := command("cp", "-a", t.home, t.home+"-kept"); err != nil {
			return err
		}
	}
	return command("umount", "--lazy", t.home)
}

// command runs a command that is not under test. The error has its output.
func command(name string, args ...string) error {
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, out)
	}
	return nil
}
