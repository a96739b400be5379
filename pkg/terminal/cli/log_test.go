package cli

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/terminal/cells"
)

// On a terminal, a warning of the log has the form of all warnings; the rest of the log, and other files, keep theirs.
func TestWarningsOfTheLog(t *testing.T) {
	warn := func(l *slog.Logger) {
		l.With("server", "demo").WithGroup("g").Warn("It writes\nnoise", "line", "a\tb")
		l.Error("It is gone")
		l.Info("It started")
	}
	var terminal, file strings.Builder
	warn(newLogger("prog", cells.NewWriter(&terminal), "info", "text", false))
	const want = "prog: warning: It writes noise (server: demo, g.line: a b)\nprog: error: It is gone\ntime="
	if got := terminal.String(); !strings.HasPrefix(got, want) || !strings.Contains(got, "level=INFO msg=\"It started\"") {
		t.Errorf("%q", got)
	}
	warn(newLogger("prog", &file, "warn", "text", false))
	if got := file.String(); strings.Count(got, "\n") != 2 || !strings.HasPrefix(got, "time=") {
		t.Errorf("%q", got)
	}
	var quiet strings.Builder
	warn(newLogger("prog", cells.NewWriter(&quiet), "info", "text", true))
	if got := quiet.String(); got != "prog: error: It is gone\n" {
		t.Errorf("%q", got)
	}
}
