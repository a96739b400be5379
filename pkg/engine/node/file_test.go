package node

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

func put(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestReadFile(t *testing.T) {
	on := task(t)
	put(t, filepath.Join(on.Dir, "text"), "a\r\nü\n\n")
	put(t, filepath.Join(on.Dir, "latin"), "\xfc\xff")
	put(t, filepath.Join(on.Dir, "empty"), "")
	for name, c := range map[string]struct{ params, raw string }{
		"as it is":      {`{"file_path":"text"}`, `"content":"a\r\nü\n\n","content_is_binary":false,"file_path":"text"`},
		"in the home":   {`{"file_path":"~/text"}`, `"content":"a\r\nü\n\n","content_is_binary":false,"file_path":"~/text"`},
		"latin-1":       {`{"file_path":"latin","encoding":"ISO-8859-1"}`, `"content":"üÿ"`},
		"no text":       {`{"file_path":"latin"}`, `"content":{"$base64":"/P8="},"content_is_binary":true`},
		"empty":         {`{"file_path":"empty"}`, `"content":""`},
		"of the kernel": {`{"file_path":"/proc/self/comm"}`, `"content":"node.test\n"`},
	} {
		t.Run(name, func(t *testing.T) {
			if strings.HasPrefix(name, "of the") {
				if _, err := os.Stat("/proc/self/comm"); err != nil {
					t.Skip("no /proc")
				}
			}
			r := perform(t, on, "read-file", c.params, nil)
			if r.Fault != nil || !strings.Contains(string(r.Outputs), c.raw) {
				t.Errorf("%v %s", r.Fault, r.Outputs)
			}
		})
	}
}

func TestReadFileFailures(t *testing.T) {
	on := task(t)
	put(t, filepath.Join(on.Dir, "text"), "x")
	for params, words := range map[string][]string{
		`{"file_path":"nope"}`:                    {"Cannot read nope: no such file"},
		`{"file_path":"."}`:                       {"Cannot read .: it is a folder"},
		`{"file_path":"text/x"}`:                  {"Cannot read text/x: not a directory"},
		`{"file_path":"a\u0000b"}`:                {"file_path", "NUL"},
		`{"file_path":"text","encoding":"utf-9"}`: {`Unknown encoding "utf-9"`},
	} {
		failedWith(t, perform(t, on, "read-file", params, nil), fault.Execution, words...)
	}
	big := filepath.Join(on.Dir, "big")
	put(t, big, "")
	if err := os.Truncate(big, MaxOutput+1); err != nil { // a sparse file
		t.Fatal(err)
	}
	failedWith(t, perform(t, on, "read-file", `{"file_path":"big"}`, nil), fault.TooLarge, "128 MiB")
	if os.Getuid() != 0 {
		if err := os.Chmod(filepath.Join(on.Dir, "text"), 0); err != nil {
			t.Fatal(err)
		}
		failedWith(t, perform(t, on, "read-file", `{"file_path":"text"}`, nil), fault.Execution, "permission denied")
	}
}

func TestReadFileDoesNotWaitForeverForAPipe(t *testing.T) {
	on := task(t)
	for _, name := range []string{"silent", "pipe"} { // a reader is left waiting at the first
		if err := syscall.Mkfifo(filepath.Join(on.Dir, name), 0o600); err != nil {
			t.Skip(err)
		}
	}
	for _, special := range []string{"pipe", "/dev/zero"} {
		failedWith(t, perform(t, on, "read-file", `{"file_path":"`+special+`"}`, nil), fault.Execution, special+": ")
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	failedWith(t, Run(ctx, prepared(t, "read-file", `{"file_path":"silent","allow_special":true}`, nil), on), fault.Execution, "enough")
	go func() { _ = os.WriteFile(filepath.Join(on.Dir, "pipe"), []byte("through"), 0) }()
	if got := output(t, perform(t, on, "read-file", `{"file_path":"pipe","allow_special":true}`, nil), "content"); got != "through" && got != `"through"` {
		t.Errorf("%q", got)
	}
}

func TestWriteFile(t *testing.T) {
	on := task(t)
	v := values{"object": `{"html": "<b>&", "n": 12345678901234567890, "f": 1.10}`, "text": `"ü\n"`, "no": "null"}
	for name, c := range map[string]struct{ params, want string }{
		"text":              {`{"content":"${text}"}`, "ü\n"},
		"text is no JSON":   {`{"content":"[1,  2]"}`, "[1,  2]"},
		"object":            {`{"content":"${object}"}`, `{"html":"<b>&","n":12345678901234567890,"f":1.10}`},
		"number":            {`{"content":1.50}`, "1.50"},
		"null":              {`{"content":"${no}"}`, ""},
		"latin-1":           {`{"content":"üÿ","encoding":"latin-1"}`, "\xfc\xff"},
		"base64":            {`{"content":"/P8A\n","content_is_binary":true}`, "\xfc\xff\x00"},
		"base64 as a value": {`{"content":"aGVsbG8=","content_is_binary":"true"}`, "hello"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join("new", "folders", name)
			params := `{"file_path":"` + file + `",` + c.params[1:]
			r := perform(t, on, "write-file", params, v)
			if got := output(t, r, "file_path"); got != file || !strings.HasPrefix(output(t, r, "written"), "Successfully wrote ") {
				t.Errorf("%s", r.Outputs)
			}
			if got := content(t, filepath.Join(on.Dir, file)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	for range 2 {
		r := perform(t, on, "write-file", `{"file_path":"~/log/all","content":"line\n","append":true}`, nil)
		if got := output(t, r, "written"); got != "Successfully appended 5 bytes to '~/log/all'" {
			t.Errorf("%s", got)
		}
	}
	if got := content(t, filepath.Join(on.Dir, "log/all")); got != "line\nline\n" {
		t.Errorf("%q", got)
	}
}

func TestWriteFileReplacesInOneStep(t *testing.T) {
	on := task(t)
	target, link := filepath.Join(on.Dir, "real"), filepath.Join(on.Dir, "link")
	put(t, target, "old")
	if err := errors.Join(os.Chmod(target, 0o640), os.Symlink("real", link)); err != nil {
		t.Fatal(err)
	}
	reader, err := os.Open(target) // an open descriptor still reads the old content
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reader.Close() }()
	output(t, perform(t, on, "write-file", `{"file_path":"link","content":"new"}`, nil), "written")
	old := make([]byte, 8)
	n, _ := reader.Read(old)
	if got := string(old[:n]); got != "old" || content(t, target) != "new" {
		t.Errorf("a reader saw %q, the file has %q", got, content(t, target))
	}
	info, err := os.Lstat(link)
	if err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v %v", info, err)
	}
	if info, err = os.Stat(target); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("permissions %v %v", info.Mode(), err)
	}
	if entries, err := os.ReadDir(on.Dir); err != nil || len(entries) != 2 {
		t.Errorf("left over: %v %v", entries, err)
	}
	output(t, perform(t, on, "write-file", `{"file_path":"/dev/null","content":"new"}`, nil), "written")
	if info, err := os.Stat("/dev/null"); err != nil || info.Mode().IsRegular() {
		t.Fatalf("/dev/null was replaced: %v %v", info, err)
	}
}

func TestWriteFileThroughADanglingLink(t *testing.T) {
	on := task(t)
	if err := os.Symlink("target", filepath.Join(on.Dir, "link")); err != nil {
		t.Fatal(err)
	}
	output(t, perform(t, on, "write-file", `{"file_path":"link","content":"new"}`, nil), "written")
	if got := content(t, filepath.Join(on.Dir, "target")); got != "new" {
		t.Errorf("%q", got)
	}
}

func TestWriteFileFailures(t *testing.T) {
	on := task(t)
	put(t, filepath.Join(on.Dir, "text"), "x")
	for params, words := range map[string][]string{
		`{"file_path":".","content":""}`:                                      {"Cannot write .: it is a folder"},
		`{"file_path":".","content":"","append":true}`:                        {"Cannot write .: it is a folder"},
		`{"file_path":"text/x","content":""}`:                                 {"Cannot create the folder of text/x: not a directory"},
		`{"file_path":"new","content":"€","encoding":"latin-1"}`:              {"new as latin-1", `"€"`, ", at byte 0 of content"},
		`{"file_path":"new","content":"ü","encoding":"ascii"}`:                {"new as ascii", `"ü"`},
		`{"file_path":"new","content":"ü","encoding":"x"}`:                    {`Unknown encoding "x"`},
		`{"file_path":"new","content":"no base64!","content_is_binary":true}`: {"content_is_binary", "base64"},
	} {
		failedWith(t, perform(t, on, "write-file", params, nil), fault.Execution, words...)
	}
	if _, err := os.Stat(filepath.Join(on.Dir, "new")); err == nil {
		t.Error("a failure left a file")
	}
	if os.Getuid() != 0 {
		if err := os.Chmod(on.Dir, 0o500); err != nil {
			t.Fatal(err)
		}
		failedWith(t, perform(t, on, "write-file", `{"file_path":"new","content":""}`, nil), fault.Execution, "permission denied")
	}
}

func TestUnder(t *testing.T) {
	on := &Task{Host: Host{Dir: "/run", Env: []string{"HOME=/home/me"}}}
	for path, want := range map[string]string{
		"a": "/run/a", "../a": "/a", "/a": "/a", "~": "/home/me", "~/a": "/home/me/a", "~other/a": "/run/~other/a", "a/~": "/run/a/~", "": "/run",
	} {
		if got := resolvePath(on, path); got != want {
			t.Errorf("%q: %s, want %s", path, got, want)
		}
	}
	on.Env = nil
	if got := resolvePath(on, "~/a"); got != "/run/~/a" {
		t.Errorf("without HOME: %s", got)
	}
}

func containsPart(list []string, part string) bool {
	return strings.Contains(strings.Join(list, "\n"), part)
}

func TestWriteFileToAFullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full")
	}
	r := perform(t, task(t), "write-file", `{"file_path":"/dev/full","content":"x"}`, nil)
	failedWith(t, r, fault.Execution, "Cannot write /dev/full: no space left on device")
	if !r.Fault.Retryable || plainOutput(t, r, "error") != r.Fault.Message {
		t.Errorf("%+v %s", r.Fault, r.Outputs)
	}
}

// Lines appended by several writers do not mix.
func TestAppendsDoNotMix(t *testing.T) {
	on := task(t)
	var all sync.WaitGroup
	for i := range 8 {
		line := strings.Repeat(string(rune('a'+i)), 9999) + "\n"
		p := prepared(t, "write-file", `{"file_path":"log","content":"${line}","append":true}`, values{"line": string(rawjson.Quote(line))})
		all.Go(func() {
			for range 10 {
				_ = Run(t.Context(), p, on)
			}
		})
	}
	all.Wait()
	lines := strings.Split(content(t, filepath.Join(on.Dir, "log")), "\n")
	if len(lines) != 81 {
		t.Fatalf("%d lines", len(lines))
	}
	for _, line := range lines[:80] {
		if line != strings.Repeat(line[:1], 9999) {
			t.Fatalf("mixed: %.40s", line)
		}
	}
}

// A similar name is suggested in the form in which the path was given.
func TestNearestPath(t *testing.T) {
	on := task(t)
	put(t, filepath.Join(on.Dir, "report.txt"), "")
	if err := os.MkdirAll(filepath.Join(on.Dir, "data/2024"), 0o700); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"reprot.txt": "Did you mean report.txt?", "~/report.tx": "Did you mean ~/report.txt?", "dta/2024/x": "Did you mean data/2024/x?",
		on.Dir + "/Report.TXT": "Did you mean " + on.Dir + "/report.txt?",
	} {
		r := perform(t, on, "read-file", `{"file_path":"`+path+`"}`, nil)
		failedWith(t, r, fault.Execution, "no such file")
		if r.Fault.Suggestions[0] != want {
			t.Errorf("%s: %q", path, r.Fault.Suggestions)
		}
	}
}

// An absolute path is not said to start from the working directory, and one with a folder that is missing before a ".." is corrected.
func TestAnAbsolutePathThatIsMissing(t *testing.T) {
	on := task(t)
	for _, node := range []string{"write-file", "read-file"} {
		for path, want := range map[string]string{on.Dir + "/Ann/../x.json": on.Dir + "/x.json", on.Dir + "/Ann/../gone/../x.json": on.Dir + "/x.json"} {
			r := perform(t, on, node, `{"file_path":"`+path+`","content":"x"}`, nil)
			if r.Fault == nil || len(r.Fault.Suggestions) != 1 || !strings.Contains(r.Fault.Suggestions[0], want) {
				t.Errorf("%s %s: %+v", node, path, r.Fault)
			}
		}
	}
	r := perform(t, on, "read-file", `{"file_path":"`+on.Dir+`/gone"}`, nil)
	failedWith(t, r, fault.Execution, "no such file")
	if text := strings.Join(r.Fault.Suggestions, " "); strings.Contains(text, "working directory") {
		t.Error(text)
	}
}
