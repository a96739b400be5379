package main

import (
	"runtime"
	"strings"

	"github.com/pflow-suite/pflow/pkg/process"
)

// openBrowser opens a URL in the user's browser, and reports whether there is one. BROWSER names a command to use.
func openBrowser(env []string, url string) bool {
	command := strings.Fields(process.Getenv(env, "BROWSER"))
	switch {
	case len(command) > 0:
	case runtime.GOOS == "darwin":
		command = []string{"open"}
	case process.Getenv(env, "DISPLAY") != "" || process.Getenv(env, "WAYLAND_DISPLAY") != "":
		command = []string{"xdg-open"}
	default:
		return false
	}
	path, err := process.LookPath(command[0], env, "")
	if err != nil {
		return false
	}
	// The browser outlives this program, so it must not write to its pipes.
	args := append([]string{"-c", `exec "$@" </dev/null >/dev/null 2>&1`, "sh", path}, command[1:]...)
	browser, err := process.Start(process.Command{Path: "/bin/sh", Args: append(args, url), Env: env, Session: true})
	if err != nil {
		return false
	}
	browser.Release()
	return true
}
