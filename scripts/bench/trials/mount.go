package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"time"
)

// mountNamespace is the beginning of the command that starts a program in a mount namespace of its own, so that no mount
// outlives it; nil when that is not permitted here.
func mountNamespace() []string {
	enter := []string{"unshare", "--mount", "--propagation", "private", "--"}
	try := append(slices.Clone(enter), "sh", "-c", "mount -t tmpfs -o size=64k tmpfs /mnt && touch /mnt/a")
	if os.Getuid() != 0 || exec.Command(try[0], try[1:]...).Run() != nil {
		return nil
	}
	return enter
}

// again starts this program anew with more arguments, by a command that ends with the one to be started, and gives its
// exit status.
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

// mount makes the home a small file system of its own.
func (t *trial) mount(options string) error {
	return command("mount", "-t", "tmpfs", "-o", options, "tmpfs", t.home)
}

// remount changes the options. A process that one which was killed had just forked may keep the home busy for a moment.
func (t *trial) remount(options string) (err error) {
	for range 100 {
		if err = command("mount", "-o", "remount,"+options, t.home); err == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	return err
}

// unmount takes the file system away. What is in it is kept beside it when the trial has failed.
func (t *trial) unmount() error {
	if len(t.wrong) > 0 {
		if err := command("cp", "-a", t.home, t.home+"-kept"); err != nil {
			return err
		}
	}
	return command("umount", "--lazy", t.home)
}

// command runs a command that is no part of what is tried; its error has what it said.
func command(name string, args ...string) error {
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, out)
	}
	return nil
}
