package suite

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/pflow-suite/pflow/internal/brief"
)

// trials runs some of the trials, which stop runs in the middle, of each kind whose name matches, with the programs of this test.
func trials(t *testing.T, number int, kinds string) {
	t.Helper()
	brief.Skip(t)
	t.Parallel()
	cmd := withTest(exec.Command(filepath.Join(testPrograms, "trials"), "--programs", bin, "--only", kinds, "--trials", strconv.Itoa(number)))
	cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// The resume of a killed run does not repeat what was done, whenever the runner was killed, and shows no secret of the run.
func TestKilledRunsGoOn(t *testing.T) {
	trials(t, 6, "^(kill|supervisor|runner)$")
}

// One run is started for each call and each key, whenever the server, a runner or a process that starts runs was killed.
func TestKilledServersStartNoRunTwice(t *testing.T) {
	trials(t, 2, "^(share|tasks)$")
}
