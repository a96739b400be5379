package suitetools

import (
	"os"
	"path/filepath"
	"testing"
)

func TestEveryCommandIsAskedForHintsThatNameTools(t *testing.T) {
	f := newFakes(t)
	for _, program := range []string{"pflow-lib", "pflow-exec", "pflow-sync"} {
		f.program(program, `echo '{}'`)
		for _, c := range []command{{program: program}, {program: program, long: true, onLine: func([]byte) {}}} {
			if _, err := f.suite.run(t.Context(), c); err != nil {
				t.Fatal(err)
			}
		}
	}
	addressed, err := os.ReadFile(filepath.Join(f.dir, "addressed"))
	if want := "pflow-lib\npflow-lib\npflow-exec\npflow-exec\npflow-sync\npflow-sync\n"; err != nil || string(addressed) != want {
		t.Errorf("started with --hints=tools: %q %v", addressed, err)
	}
}
