package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// source creates a file with special permissions and modification time.
func source(t *testing.T, path, content string) time.Time {
	t.Helper()
	put(t, path, content)
	when := time.Date(2001, 2, 3, 4, 5, 6, 789_000_000, time.UTC)
	if err := errors.Join(os.Chmod(path, 0o751), os.Chtimes(path, when, when)); err != nil { //nolint:gosec // it must be other than usual
		t.Fatal(err)
	}
	return when
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

func TestTransfers(t *testing.T) {
	for kind, said := range map[string]string{"copy-file": "copied", "move-file": "moved"} {
		for dest, at := range map[string]string{"b": "b", "new/folder/b": "new/folder/b", "there": "there/a", "new/": "new/a", "~/b": "b"} {
			t.Run(kind+" to "+dest, func(t *testing.T) {
				on := task(t)
				when := source(t, filepath.Join(on.Dir, "a"), "content")
				if err := os.Mkdir(filepath.Join(on.Dir, "there"), 0o700); err != nil {
					t.Fatal(err)
				}
				r := perform(t, on, kind, `{"source_path":"a","dest_path":"`+dest+`"}`, nil)
				if got := output(t, r, said); got == "" {
					t.Errorf("%s", r.Outputs)
				}
				if got := content(t, resolvePath(on, output(t, r, "file_path"))); got != "content" {
					t.Errorf("%q", got)
				}
				info, err := os.Stat(filepath.Join(on.Dir, at))
				if err != nil || info.Mode().Perm() != 0o751 || !info.ModTime().Equal(when) {
					t.Errorf("%v %v", info, err)
				}
				if _, err := os.Stat(filepath.Join(on.Dir, "a")); (err == nil) != (kind == "copy-file") {
					t.Errorf("the source: %v", err)
				}
				if got := names(t, filepath.Dir(filepath.Join(on.Dir, at))); len(got) > 3 {
					t.Errorf("left over: %v", got)
				}
			})
		}
	}
}

func TestTransfersDoNotReplaceUnasked(t *testing.T) {
	for _, kind := range []string{"copy-file", "move-file"} {
		on := task(t)
		put(t, filepath.Join(on.Dir, "a"), "A")
		put(t, filepath.Join(on.Dir, "b"), "B")
		r := perform(t, on, kind, `{"source_path":"a","dest_path":"b"}`, nil)
		failedWith(t, r, fault.Execution, "Destination file 'b' already exists", `"overwrite": true`)
		if got := content(t, filepath.Join(on.Dir, "b")) + plainOutput(t, r, "file_path"); got != "Bb" {
			t.Errorf("%s", got)
		}
		output(t, perform(t, on, kind, `{"source_path":"a","dest_path":"b","overwrite":true}`, nil), "file_path")
		if got := content(t, filepath.Join(on.Dir, "b")); got != "A" {
			t.Errorf("%s", got)
		}
	}
}

// If many nodes create the same file at the same time, one succeeds, and its file is complete.
func TestOneTransferWins(t *testing.T) {
	for _, kind := range []string{"copy-file", "move-file"} {
		on := task(t)
		const n = 20
		var won atomic.Int32
		var all sync.WaitGroup
		for i := range n {
			name := fmt.Sprintf("from%d", i)
			put(t, filepath.Join(on.Dir, name), name)
			p := prepared(t, kind, `{"source_path":"`+name+`","dest_path":"to"}`, nil)
			all.Go(func() {
				if r := Run(t.Context(), p, on); r.Fault == nil {
					won.Add(1)
				}
			})
		}
		all.Wait()
		if got := content(t, filepath.Join(on.Dir, "to")); won.Load() != 1 || got[:4] != "from" {
			t.Errorf("%s: %d won, and it holds %q", kind, won.Load(), got)
		}
		if left := len(names(t, on.Dir)); left != n+1 && kind == "copy-file" || left != n && kind == "move-file" {
			t.Errorf("%s: %v", kind, names(t, on.Dir))
		}
	}
}

func TestTransferFailures(t *testing.T) {
	on := task(t)
	put(t, filepath.Join(on.Dir, "report.txt"), "x")
	at := func(name string) string { return filepath.Join(on.Dir, name) }
	if err := errors.Join(os.Mkdir(at("folder"), 0o700), os.Symlink("nowhere", at("dangling")), os.Symlink("report.txt", at("link")),
		os.MkdirAll(at("full/report.txt"), 0o700), syscall.Mkfifo(at("pipe"), 0o600), os.Link(at("report.txt"), at("hard"))); err != nil {
		t.Fatal(err)
	}
	for _, c := range [][]string{
		{"copy-file", "reprot.txt", "x", "Cannot copy reprot.txt: no such file", "Did you mean report.txt?"},
		{"move-file", "foldr/a", "x", "Cannot move foldr/a: no such file", "Did you mean folder/a?"},
		{"copy-file", "folder", "x", "it is a folder", "cp -r"},
		{"move-file", "folder", "x", "it is a folder", "mv"},
		{"copy-file", "pipe", "x", "pipe: "},
		{"copy-file", "dangling", "x", "dangling is a link to nowhere, which does not exist"},
		{"copy-file", "dangling/a", "x", "dangling is a link to nowhere"},
		{"copy-file", "report.txt", "report.txt", "they are the same file"},
		{"copy-file", "report.txt", "link", "they are the same file"},
		{"move-file", "report.txt", "hard", "they are the same file"},
		{"move-file", "report.txt", "./", "they are the same file"},
		{"copy-file", "report.txt", "full", "report.txt to full/report.txt: "},
		{"copy-file", "report.txt", "pipe", "report.txt to pipe: "},
		{"copy-file", "report.txt", "report.txt/x", "Cannot create the folder of report.txt/x: not a directory"},
		{"copy-file", "", "x", "source_path is empty"},
		{"move-file", "report.txt", " ", "dest_path is empty"},
		{"move-file", `a\u0000b`, "x", "source_path"},
	} {
		r := perform(t, on, c[0], `{"source_path":"`+c[1]+`","dest_path":"`+c[2]+`","overwrite":true}`, nil)
		failedWith(t, r, fault.Execution, c[3])
		if plainOutput(t, r, "error") != r.Fault.Message {
			t.Errorf("%v left %s", c, r.Outputs)
		}
		if len(c) > 4 && !containsPart(r.Fault.Suggestions, c[4]) {
			t.Errorf("%v suggests %q", c, r.Fault.Suggestions)
		}
	}
	if content(t, at("report.txt")) != "x" {
		t.Error("it is changed")
	}
}

func TestMoveTakesALinkAsItself(t *testing.T) {
	on := task(t)
	if err := os.Symlink("nowhere", filepath.Join(on.Dir, "link")); err != nil {
		t.Fatal(err)
	}
	output(t, perform(t, on, "move-file", `{"source_path":"link","dest_path":"sub/moved"}`, nil), "moved")
	if target, err := os.Readlink(filepath.Join(on.Dir, "sub/moved")); err != nil || target != "nowhere" {
		t.Errorf("%s %v", target, err)
	}
}

func TestCopyThroughALinkKeepsTheLink(t *testing.T) {
	on := task(t)
	put(t, filepath.Join(on.Dir, "a"), "A")
	put(t, filepath.Join(on.Dir, "target"), "old")
	if err := os.Symlink("target", filepath.Join(on.Dir, "link")); err != nil {
		t.Fatal(err)
	}
	output(t, perform(t, on, "copy-file", `{"source_path":"a","dest_path":"link","overwrite":true}`, nil), "copied")
	if info, err := os.Lstat(filepath.Join(on.Dir, "link")); err != nil || info.Mode()&os.ModeSymlink == 0 || content(t, filepath.Join(on.Dir, "target")) != "A" {
		t.Errorf("%v %v", info, err)
	}
}

func TestACopyThatIsCancelledLeavesNothing(t *testing.T) {
	on := task(t)
	put(t, filepath.Join(on.Dir, "a"), "")
	if err := os.Truncate(filepath.Join(on.Dir, "a"), 3*copyChunk); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	on.Progress = func(done, total float64, _ string) { // it is under way
		if done != copyChunk || total != 3*copyChunk {
			t.Errorf("progress %v of %v", done, total)
		}
		cancel(errors.New("enough"))
	}
	failedWith(t, Run(ctx, prepared(t, "copy-file", `{"source_path":"a","dest_path":"b"}`, nil), on), fault.Execution, "enough")
	if got := names(t, on.Dir); len(got) != 1 {
		t.Errorf("%v", got)
	}
}

// otherDevice returns a folder of another file system.
func otherDevice(t *testing.T, than string) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "pflow-test-*")
	if err != nil {
		t.Skip("no other file system")
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	put(t, filepath.Join(dir, "probe"), "")
	if !errors.Is(os.Rename(filepath.Join(dir, "probe"), filepath.Join(than, "probe")), syscall.EXDEV) {
		t.Skip("no other file system")
	}
	_ = os.Remove(filepath.Join(dir, "probe"))
	return dir
}

func TestMoveToAnotherFileSystem(t *testing.T) {
	on := task(t)
	other := otherDevice(t, on.Dir)
	when := source(t, filepath.Join(on.Dir, "a"), "content")
	if err := os.Symlink("nowhere", filepath.Join(on.Dir, "link")); err != nil {
		t.Fatal(err)
	}
	output(t, perform(t, on, "move-file", `{"source_path":"a","dest_path":"`+other+`"}`, nil), "moved")
	output(t, perform(t, on, "move-file", `{"source_path":"link","dest_path":"`+other+`"}`, nil), "moved")
	info, err := os.Stat(filepath.Join(other, "a"))
	if err != nil || info.Mode().Perm() != 0o751 || !info.ModTime().Equal(when) || content(t, filepath.Join(other, "a")) != "content" {
		t.Errorf("%v %v", info, err)
	}
	if got := append(names(t, on.Dir), names(t, other)...); len(got) != 2 || got[1] != "link" {
		t.Errorf("%v", got)
	}
	put(t, filepath.Join(on.Dir, "a"), "new")
	failedWith(t, perform(t, on, "move-file", `{"source_path":"a","dest_path":"`+other+`"}`, nil), fault.Execution, "already exists")
	if content(t, filepath.Join(on.Dir, "a")) != "new" || content(t, filepath.Join(other, "a")) != "content" {
		t.Error("something is lost")
	}
}

// If a file system cannot rename without overwriting, the name is reserved with an empty file.
func TestReserve(t *testing.T) {
	dir := t.TempDir()
	tr := &transfer{to: filepath.Join(dir, "to")}
	put(t, filepath.Join(dir, "from"), "content")
	if err := tr.reserveAndRename(filepath.Join(dir, "from")); err != nil || content(t, tr.to) != "content" {
		t.Errorf("%v", err)
	}
	put(t, filepath.Join(dir, "from"), "other")
	if err := tr.reserveAndRename(filepath.Join(dir, "from")); !errors.Is(err, os.ErrExist) || content(t, tr.to) != "content" {
		t.Errorf("%v", err)
	}
	tr.to = filepath.Join(dir, "second")
	if err := tr.reserveAndRename(filepath.Join(dir, "nothing")); err == nil || len(names(t, dir)) != 2 {
		t.Errorf("%v %v", err, names(t, dir))
	}
}

func TestDeleteFile(t *testing.T) {
	on := task(t)
	at := func(name string) string { return filepath.Join(on.Dir, name) }
	put(t, at("a"), "")
	put(t, at("b"), "")
	if err := errors.Join(os.Symlink("b", at("link")), os.Mkdir(at("folder"), 0o700)); err != nil {
		t.Fatal(err)
	}
	for _, params := range []string{`{"file_path":"a"}`, `{"file_path":"a","confirm_delete":"false"}`} {
		failedWith(t, perform(t, on, "delete-file", params, nil), fault.Execution, "a is not deleted: confirm_delete is not true")
	}
	failedWith(t, perform(t, on, "delete-file", `{"file_path":"a"}`, values{"confirm_delete": "false"}), fault.Execution, "confirm_delete")
	if got := output(t, perform(t, on, "delete-file", `{"file_path":"a"}`, values{"confirm_delete": "true"}), "deleted"); got != "Successfully deleted 'a'" {
		t.Error(got)
	}
	if got := output(t, perform(t, on, "delete-file", `{"file_path":"a","confirm_delete":true}`, nil), "deleted"); got != "File 'a' was already gone: there was nothing to delete" {
		t.Error(got)
	}
	output(t, perform(t, on, "delete-file", `{"file_path":"~/link","confirm_delete":true}`, nil), "deleted")
	failedWith(t, perform(t, on, "delete-file", `{"file_path":"folder","confirm_delete":true}`, nil), fault.Execution, "Cannot delete folder: it is a folder")
	for _, path := range []string{"b/", "b/.", "b//"} {
		failedWith(t, perform(t, on, "delete-file", `{"file_path":"`+path+`","confirm_delete":true}`, nil), fault.Execution, "Cannot delete "+path+": not a directory")
	}
	failedWith(t, perform(t, on, "delete-file", `{"file_path":"b/c","confirm_delete":true}`, nil), fault.Execution, "Cannot delete b/c: not a directory")
	if got := names(t, on.Dir); len(got) != 2 {
		t.Errorf("%v", got)
	}
}
