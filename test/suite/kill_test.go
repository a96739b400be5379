package suite

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// trials runs some of the trials, which stop runs in the middle, with the programs of this test.
func trials(t *testing.T, args ...string) {
	t.Helper()
	t.Parallel()
	dir := t.TempDir()
	build := exec.Command("go", "build", "-o", dir, "./scripts/bench/trials")
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	cmd := exec.Command(filepath.Join(dir, "trials"), append([]string{"--programs", bin}, args...)...)
	cmd.Env = append(os.Environ(), "TMPDIR="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// The resume of a killed run does not repeat what was done, whenever the runner was killed.
func TestKilledRunsGoOn(t *testing.T) { trials(t, "--kill", "8", "--full", "0", "--canaries", "0") }

// No secret is found, whatever a run does, in some of the places where secrets are written.
func TestHiddenSecretsAreNotFound(t *testing.T) {
	trials(t, "--kill", "0", "--full", "0", "--place", "headers|MCP|nested|call")
}
