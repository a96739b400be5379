package cli

import (
	"fmt"
	"io"
	"os"
	"syscall"
	"testing"
)

func TestSignals(t *testing.T) {
	for signal, want := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143, syscall.SIGHUP: 129} {
		for _, more := range [][]string{nil, {"--twice"}} {
			if signal == syscall.SIGHUP && more != nil {
				continue // a terminal that is closed makes two
			}
			c, stderr := child(append([]string{"wait", fmt.Sprint(int(signal))}, more...)...)
			out, err := c.Output()
			if c.ProcessState.ExitCode() != want || len(out) > 0 || stderr.Len() > 0 {
				t.Errorf("%s %v: %v, status %d, stdout %q, stderr %q", signal, more, err, c.ProcessState.ExitCode(), out, stderr)
			}
		}
	}
}

// After Hangups, SIGHUP is a request, and other signals end the program as before.
func TestHangupsAreReceived(t *testing.T) {
	c, stderr := child("wait", fmt.Sprint(int(syscall.SIGTERM)), "--hold")
	if out, err := c.Output(); c.ProcessState.ExitCode() != 143 || len(out) > 0 || stderr.Len() > 0 {
		t.Errorf("%v, stdout %q, stderr %q", err, out, stderr)
	}
}

func TestAnIgnoredSignalStaysIgnored(t *testing.T) {
	for script, want := range map[string]int{ // of two signals, the first that is not ignored counts
		`trap "" HUP; exec "$0" wait 1 --then 15`: 143,
		`trap "" INT; exec "$0" wait 2 --then 1`:  129,
	} {
		c, stderr := child("-c", script, os.Args[0])
		c.Path, c.Args[0] = "/bin/sh", "sh"
		out, err := c.Output()
		if c.ProcessState.ExitCode() != want || len(out) > 0 || stderr.Len() > 0 {
			t.Errorf("%s: %v, stdout %q, stderr %q", script, err, out, stderr)
		}
	}
}

func TestAReaderThatGoesAwayEndsTheProgramQuietly(t *testing.T) {
	for _, args := range [][]string{{"many"}, {"fail", "plain"}, {"say", "hi", "-q"}, {"nope"}, {"--version", "-q"}, {"--help"}, {"--version"}} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		c, stderr := child(args...)
		c.Stdout = w
		if args[0] != "many" { // nobody ever read
			_ = r.Close()
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		_ = w.Close()
		if args[0] == "many" {
			if _, err := io.ReadFull(r, make([]byte, 100)); err != nil {
				t.Error(err)
			}
			_ = r.Close()
		}
		_ = c.Wait()
		said := stderr.String()
		if args[0] == "fail" || args[0] == "nope" { // what went wrong before is still said
			said = ""
		}
		if c.ProcessState.ExitCode() != 141 || said != "" {
			t.Errorf("%v: %v, stderr %q", args, c.ProcessState, stderr)
		}
	}
}
