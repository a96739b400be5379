package journal

import "github.com/pflow-suite/pflow/pkg/home/input"

// The most bytes of a long value, which is the JSON text of what a node may put out, and of a file that names a process or a run.
const (
	maxBlob  = 1 << 30
	maxShort = 64 << 10
)

// readFile reads a file of a run, which errors call by its name. It fails if that is not a regular file.
func readFile(path, name string, limit int64) ([]byte, error) {
	return input.RegularFile(path, name, limit)
}

// readShort reads a file that names a process or a run.
func readShort(path string) ([]byte, error) { return readFile(path, "A file of the run", maxShort) }
