package suite

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTheFolderOfARunIsACheckpoint: its long values are found beside its events, in another home.
func TestTheFolderOfARunIsACheckpoint(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("w.json", `{"nodes":[{"id":"a","type":"shell","params":{"command":"echo a >> ran; head -c 3000000 /dev/zero | tr '\\0' x"}},
		{"id":"b","type":"shell","params":{"command":"wc -c; test -e go","stdin":"${a.stdout}"}}]}`)
	if o := p.run("pflow-exec", "run", "w.json"); o.exit != 1 {
		t.Fatal(o)
	}
	copied := filepath.Join(p.dir, "copied")
	folders, _ := filepath.Glob(filepath.Join(p.dir, "home", "runs", "r*"))
	if len(folders) != 1 {
		t.Fatal(folders)
	}
	if err := os.Rename(folders[0], copied); err != nil {
		t.Fatal(err)
	}
	p.write("go", "")
	o := p.run("pflow-exec", "run", "w.json", "--resume", "copied/journal.ndjson", "--print", "b.stdout")
	if o.exit != 0 || strings.TrimSpace(o.stdout) != "3000000" || p.read("ran") != "a\n" {
		t.Errorf("%s, and %q ran", o, p.read("ran"))
	}
}
