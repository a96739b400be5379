package suitetools

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/pflow-suite/pflow/pkg/mcp/suitetools/suite"
)

func TestEveryCommandIsAskedForHintsThatNameTools(t *testing.T) {
	f := newFakes(t)
	for _, program := range []string{"pflow-lib", "pflow-exec", "pflow-sync"} {
		f.Program(program, `echo '{}'`)
		for _, c := range []suite.Command{{Program: program}, {Program: program, Long: true, OnLine: func([]byte) {}}} {
			if _, err := f.suite.Run(t.Context(), c); err != nil {
				t.Fatal(err)
			}
		}
	}
	addressed, err := os.ReadFile(filepath.Join(f.Dir, "addressed"))
	if want := "pflow-lib\npflow-lib\npflow-exec\npflow-exec\npflow-sync\npflow-sync\n"; err != nil || string(addressed) != want {
		t.Errorf("started with --hints=tools: %q %v", addressed, err)
	}
}
