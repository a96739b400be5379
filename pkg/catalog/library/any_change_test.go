//go:build !race

package library

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/pflow-suite/pflow/pkg/home"
)

// change changes something at random below dir, where home is the home and outside a folder beside it, and returns what it did.
func change(t *rapid.T, dir string) string {
	folder := filepath.Join(dir, "home", rapid.SampledFrom([]string{"library", "workflows"}).Draw(t, "folder"))
	name := rapid.SampledFrom([]string{"one", "one", "two", "two", "Bad_Name"}).Draw(t, "name")
	ending := rapid.SampledFrom([]string{".json", ".json", ".pflow.md"}).Draw(t, "ending")
	place := filepath.Join(folder, name+ending)
	if rapid.Bool().Draw(t, "bundled") {
		place = filepath.Join(folder, name, name+ending)
	}
	beside := filepath.Join(filepath.Dir(place), rapid.SampledFrom([]string{"text.md", "sub/text.md", "../text.md", "run.sh"}).Draw(t, "beside"))
	other := filepath.Join(dir, rapid.SampledFrom([]string{"outside/x.json", "outside/text.md", "home/workflows/one.json", "home/library/two/two.json"}).Draw(t, "other"))
	refers := rapid.SampledFrom([]string{"plain", "./text.md", "./sub/text.md", "../text.md", "text.md"}).Draw(t, "refers")
	command := rapid.SampledFrom([]string{"true", "./run.sh", "./sub"}).Draw(t, "command")
	said := rapid.SampledFrom([]string{"One", "Two", "A file", "<&> é\u2028"}).Draw(t, "said")
	text := fmt.Sprintf(`{"description":%q,"version":"1.%d.0","created_at":"2026-01-02T03:04:05+02:00","nodes":[`+
		`{"id":"a","type":"shell","params":{"command":%q,"stdin":%q}}]}`, said, len(said), command, refers)
	if ending != ".json" {
		text = "# " + said + "\n\n" + said + "\n\n## Steps\n\n### a\n\nSay it.\n\n- type: echo\n"
	}
	_ = os.MkdirAll(filepath.Dir(place), 0o700)
	var err error
	verb := rapid.SampledFrom([]string{
		"write", "write", "write", "rewrite", "break", "remove", "rename", "write beside", "write beside", "remove beside", "remove beside", "chmod",
		"link", "link beside", "hard link", "link folder", "move folder", "old", "break index", "remove index",
	}).Draw(t, "verb")
	switch verb {
	case "write":
		err = os.WriteFile(place, []byte(text), 0o600)
	case "rewrite": // as an editor does
		if err = os.WriteFile(place+".new", []byte(text), 0o600); err == nil {
			err = os.Rename(place+".new", place)
		}
	case "break":
		err = os.WriteFile(place, []byte(rapid.SampledFrom([]string{"{", "", `{"nodes":[{"id":"a"}],"inputs":7}`, "[1,2"}).Draw(t, "broken")), 0o600)
	case "remove":
		err = os.RemoveAll(rapid.SampledFrom([]string{place, filepath.Dir(place)}).Draw(t, "removed"))
	case "rename":
		err = os.Rename(place, filepath.Join(folder, "two"+ending))
	case "write beside":
		_ = os.MkdirAll(filepath.Dir(beside), 0o700)
		err = os.WriteFile(beside, []byte(said), 0o600)
	case "remove beside":
		err = os.RemoveAll(beside)
	case "chmod":
		err = os.Chmod(beside, rapid.SampledFrom([]os.FileMode{0o600, 0o700}).Draw(t, "mode"))
	case "link":
		_ = os.Remove(place)
		err = os.Symlink(other, place)
	case "link beside":
		_ = os.RemoveAll(beside)
		err = os.Symlink(rapid.SampledFrom([]string{other, filepath.Dir(other)}).Draw(t, "target"), beside)
	case "hard link":
		_ = os.Remove(place)
		err = os.Link(other, place)
	case "link folder":
		_ = os.RemoveAll(filepath.Join(folder, name))
		err = os.Symlink(filepath.Dir(other), filepath.Join(folder, name))
	case "move folder": // and put a link to it, or nothing, in its place
		moved := filepath.Join(dir, rapid.SampledFrom([]string{"outside", "home"}).Draw(t, "moved"), "moved-"+filepath.Base(folder))
		if _, there := os.Lstat(moved); there == nil {
			_ = os.Remove(folder)
			err = os.Rename(moved, folder)
		} else if err = os.Rename(folder, moved); err == nil && rapid.Bool().Draw(t, "linked") {
			err = os.Symlink(moved, folder)
		}
	case "old":
		old := time.Now().Add(-48 * time.Hour)
		err = os.Chtimes(place, old, old)
	case "break index":
		err = os.WriteFile(filepath.Join(dir, "home", indexName), []byte("{}"), 0o600)
	case "remove index":
		err = os.Remove(filepath.Join(dir, "home", indexName))
	}
	return fmt.Sprintf("%s of %s (%s, %s): %v", verb, strings.TrimPrefix(place, dir), strings.TrimPrefix(beside, dir), strings.TrimPrefix(other, dir), err)
}

// Whatever changes in the home, lists and searches return the same with the index as without it.
func TestAnIndexChangesNoList(t *testing.T) {
	base := t.TempDir()
	n, taken := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		dir := filepath.Join(base, fmt.Sprint(n))
		h, _ := home.Open(filepath.Join(dir, "home"), "")
		for _, folder := range []string{"home/library", "home/workflows", "outside"} {
			if err := os.MkdirAll(filepath.Join(dir, folder), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		const referring = `{"nodes":[{"id":"a","type":"shell","params":{"command":"./run.sh","stdin":"./sub/text.md"}},{"id":"b","type":"shell","params":{"command":"cat","stdin":"./text.md"}}]}`
		for file, text := range map[string]string{
			"outside/x.json": hello, "home/workflows/one.json": referring, "home/workflows/text.md": "", "home/workflows/sub/text.md": "",
			"home/library/two/two.json": referring, "home/library/two/text.md": "", "home/library/two/sub/text.md": "", "home/library/one.json": hello,
		} {
			if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(file)), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		did := "nothing"
		for range rapid.IntRange(1, 15).Draw(t, "changes") {
			compareLists(t, h, did)
			if x := storedIndex(h); x != nil {
				taken += len(x.entries)
			}
			tickOf(t, dir)
			did += "; " + change(t, dir)
		}
		compareLists(t, h, did)
	})
	if taken < n {
		t.Errorf("only %d workflows were in the indexes of %d homes", taken, n)
	}
}
