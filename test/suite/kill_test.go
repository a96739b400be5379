package suite

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/pflow-suite/pflow/internal/brief"
)

// noTrials has the flags that leave out each kind of trial.
var noTrials = []string{"--kill=0", "--full=0", "--watch=0", "--limited=0", "--runners=0", "--tasks=0", "--shares=0", "--canaries=0"}

// trials runs some of the trials, which stop runs in the middle, with the programs of this test. The arguments say which.
func trials(t *testing.T, args ...string) {
	t.Helper()
	brief.Skip(t)
	t.Parallel()
	cmd := withTest(exec.Command(filepath.Join(testPrograms, "trials"), slices.Concat([]string{"--programs", bin}, noTrials, args)...))
	cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// The resume of a killed run does not repeat what was done, whenever the runner was killed.
func TestKilledRunsGoOn(t *testing.T) {
	trials(t, "--kill", "8")
}

// One run is started for each call and each key, whenever the server, a runner or a process that starts runs was killed.
func TestKilledServersStartNoRunTwice(t *testing.T) {
	trials(t, "--tasks", "2", "--shares", "1", "--limited", "1", "--runners", "1")
}

// No secret is found, whatever a run does, in some of the places where secrets are written.
func TestHiddenSecretsAreNotFound(t *testing.T) {
	trials(t, "--canaries", "1", "--place", "headers|MCP|nested|call")
}
