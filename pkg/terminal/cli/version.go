package cli

import (
	"runtime/debug"
	"strings"
)

// Version is the version of the suite and of all its programs.
const Version = "0.1.0"

// commitDigits is the number of digits of a commit that are shown.
const commitDigits = 12

// VersionLine returns what --version prints: the program, its version and, where the build recorded them, the commit and its date, such
// as "pflow-exec 0.1.0 (0123456789ab 2026-01-31)". A build of changed sources has "modified" in it.
func VersionLine(program string) string {
	line := program + " " + Version
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return line
	}
	var commit, date, modified string
	for _, s := range build.Settings {
		switch s.Key {
		case "vcs.revision":
			commit = s.Value[:min(len(s.Value), commitDigits)]
		case "vcs.time":
			date, _, _ = strings.Cut(s.Value, "T")
		case "vcs.modified":
			if s.Value == "true" {
				modified = "modified"
			}
		}
	}
	if commit == "" { // go install of a module knows no commit
		if v := build.Main.Version; v != "" && v != "(devel)" {
			commit = v
		}
	}
	if parts := strings.Join(strings.Fields(commit+" "+date+" "+modified), " "); parts != "" {
		line += " (" + parts + ")"
	}
	return line
}
