package engine_test

import (
	"os"
	"testing"

	"github.com/pflow-suite/pflow/pkg/process"
)

// The tests' processes end with the tests, even if the system's first process is slow to wait for orphans.
func TestMain(m *testing.M) {
	process.AdoptOrphans()
	os.Exit(m.Run())
}
