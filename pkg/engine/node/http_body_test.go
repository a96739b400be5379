package node

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/internal/webserver"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
)

func TestHTTPUnpacks(t *testing.T) {
	s := webserver.Start(t)
	for _, params := range []string{``, `,"headers":{"accept-encoding":"gzip, deflate, br"}`, `,"output_file":"f"`} {
		on := task(t)
		r := perform(t, on, "http", `{"url":"`+s.URL+`/gzip"`+params+`}`, nil)
		got := output(t, r, "response")
		if name := output(t, r, "file_path"); name != "" {
			content, err := os.ReadFile(filepath.Join(on.Dir, name))
			if err != nil {
				t.Fatal(err)
			}
			got = string(content)
		}
		if got != "packed\n" || output(t, r, "size") != "7" || output(t, r, "response_headers.content-encoding") != "gzip" {
			t.Errorf("%q %s", got, r.Outputs)
		}
	}
	for _, params := range []string{`,"headers":{"Accept-Encoding":"identity"}`, `,"headers":{"Range":"bytes=0-"}`} {
		if r := perform(t, task(t), "http", `{"url":"`+s.URL+`/gzip"`+params+`}`, nil); output(t, r, "response") != "not packed\n" {
			t.Errorf("%s", r.Outputs)
		}
	}
	r := perform(t, task(t), "http", `{"url":"`+s.URL+`/gzip","method":"HEAD","headers":{"Accept-Encoding":"gzip"}}`, nil)
	if output(t, r, "response") != "" || output(t, r, "size") != "0" {
		t.Errorf("%s", r.Outputs)
	}
}

func TestHTTPUnpacksWhatBelongsTogether(t *testing.T) {
	var b bytes.Buffer
	for _, part := range []string{"one ", "two"} {
		z := gzip.NewWriter(&b)
		_, _ = io.WriteString(z, part)
		_ = z.Close()
	}
	corrupt := bytes.Clone(b.Bytes())
	corrupt[len(corrupt)-5] ^= 1
	body := b.Bytes()
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(body)
	})
	if r := perform(t, task(t), "http", `{"url":"`+url+`"}`, nil); output(t, r, "response") != "one two" {
		t.Errorf("%s", r.Outputs)
	}
	body = corrupt
	failedWith(t, perform(t, task(t), "http", `{"url":"`+url+`"}`, nil), fault.Protocol, "cannot be unpacked")
}

func TestHTTPCharset(t *testing.T) {
	var kind, body string
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		_, _ = io.WriteString(w, body)
	})
	for _, c := range []struct{ kind, body, want string }{
		{"text/plain; charset=ISO-8859-1", "caf\xe9 \x80", `"café €"`},
		{`text/html; charset="windows-1252"`, "\x93x\x94", `"“x”"`},
		{"application/json; charset=latin1", "{\"k\":\"\xe9\"}", `{"k":"é"}`},
		{"text/plain; charset=utf-8", "é", `"é"`},
		{"text/plain; charset=utf-16le", "a\x00\xe9\x00", `{"$base64":"YQDpAA=="}`},
		{"text/plain", "\xe9", `{"$base64":"6Q=="}`},
		{"image/png; charset=iso-8859-1", "\xe9", `{"$base64":"6Q=="}`},
		{"application/json", "\uFEFF{}", `{}`},
	} {
		kind, body = c.kind, c.body
		r := perform(t, task(t), "http", `{"url":"`+url+`"}`, nil)
		if got := gjson.GetBytes(r.Outputs, "response").Raw; r.Fault != nil || got != c.want {
			t.Errorf("%s: %s %v, want %s", c.kind, got, r.Fault, c.want)
		}
		if output(t, r, "size") != fmt.Sprint(len(c.body)) || output(t, r, "response_is_binary") != fmt.Sprint(strings.HasPrefix(c.want, `{"$`)) {
			t.Errorf("%s: %s", c.kind, r.Outputs)
		}
	}
}

func TestHTTPMaxSize(t *testing.T) {
	s := webserver.Start(t)
	for _, page := range []string{"/text/100", "/bytes/100"} {
		for size, fits := range map[int]bool{0: true, 99: false, 100: true, 101: true} {
			for _, file := range []string{"", `,"output_file":"f"`} {
				r := perform(t, task(t), "http", fmt.Sprintf(`{"url":"%s%s","max_size":%d%s}`, s.URL, page, size, file), nil)
				if fits != (r.Fault == nil) || fits && output(t, r, "size") != "100" {
					t.Errorf("%s with max_size %d: %v", page, size, r.Fault)
				}
			}
		}
	}
	for size, fits := range map[int]bool{6: false, 7: true} { // what is packed does not say how long it is
		r := perform(t, task(t), "http", fmt.Sprintf(`{"url":"%s/gzip","max_size":%d}`, s.URL, size), nil)
		if fits != (r.Fault == nil) {
			t.Errorf("packed with max_size %d: %v", size, r.Fault)
		}
	}
	r := perform(t, task(t), "http", `{"url":"`+s.URL+`/status/404","max_size":3}`, nil)
	failedWith(t, r, fault.Execution, "HTTP 404")
	if gjson.GetBytes(r.Outputs, "response").Raw != "null" {
		t.Errorf("a part of the body stands as the body: %s", r.Outputs)
	}
}

// store counts open and kept blobs.
type store struct{ open, kept int }

// capture returns a capture that puts long output into the store.
func (s *store) capture() Output {
	return &event.Capture{
		New:    func() (event.Blob, error) { s.open++; return storedBlob{s}, nil },
		Redact: func(w io.Writer) event.Redacting { return untouched{w} },
	}
}

type storedBlob struct{ s *store }

func (b storedBlob) Write(p []byte) (int, error) { return len(p), nil }
func (b storedBlob) Keep() (string, error)       { b.s.open--; b.s.kept++; return "sha256:00", nil }
func (b storedBlob) Discard()                    { b.s.open-- }

func (b storedBlob) ReadAt(p []byte, _ int64) (int, error) { return len(p), nil }

type untouched struct{ io.Writer }

func (untouched) Close() error   { return nil }
func (untouched) Redacted() bool { return false }

func TestHTTPLongTextGoesIntoABlob(t *testing.T) {
	s := webserver.Start(t)
	var kept store
	on := task(t)
	on.Capture = kept.capture
	r := Run(t.Context(), prepared(t, "http", `{"url":"`+s.URL+`/text/1000000"}`, nil), on)
	if r.Fault != nil || gjson.GetBytes(r.Outputs, "response.$blob").Str != "sha256:00" || gjson.GetBytes(r.Outputs, "response.bytes").Int() != 1000000 || kept != (store{0, 1}) {
		t.Errorf("%v %s %+v", r.Fault, r.Outputs, kept)
	}
	r = Run(t.Context(), prepared(t, "http", `{"url":"`+s.URL+`/hostile/endless","max_size":1000000}`, nil), on)
	failedWith(t, r, fault.TooLarge)
	if kept != (store{0, 1}) {
		t.Errorf("a part of a body was kept: %+v", kept)
	}
}

func TestHTTPIntoAFile(t *testing.T) {
	s := webserver.Start(t)
	on := task(t)
	var done, total float64
	on.Progress = func(d, of float64, _ string) { done, total = d, of }
	r := perform(t, on, "http", `{"url":"`+s.URL+`/bytes/300000","output_file":"a/b/f.bin"}`, nil)
	if output(t, r, "file_path") != "a/b/f.bin" || gjson.GetBytes(r.Outputs, "response").Raw != "null" || output(t, r, "response_is_binary") != "false" {
		t.Errorf("%s", r.Outputs)
	}
	if done == 0 || done > total || total != 300000 {
		t.Errorf("progress %v of %v", done, total)
	}
	file := filepath.Join(on.Dir, "a", "b", "f.bin")
	content, err := os.ReadFile(file)
	if err != nil || len(content) != 300000 {
		t.Fatalf("%d bytes, %v", len(content), err)
	}
	if err := os.Chmod(file, 0o640); err != nil {
		t.Fatal(err)
	}
	if r := perform(t, on, "http", `{"url":"`+s.URL+`/text","output_file":"a/b/f.bin"}`, nil); r.Fault != nil {
		t.Fatal(r.Fault)
	}
	if info, err := os.Stat(file); err != nil || info.Size() != 15 || info.Mode().Perm() != 0o640 {
		t.Errorf("%v %v", info, err)
	}
	for _, path := range []string{"/status/500", "/hostile/short"} { // what is there stays, and nothing is left beside it
		r := perform(t, on, "http", `{"url":"`+s.URL+path+`","output_file":"a/b/f.bin","retries":0}`, nil)
		if r.Fault == nil || plainOutput(t, r, "file_path") != "" {
			t.Errorf("%s", r.Outputs)
		}
		if path == "/status/500" && plainOutput(t, r, "response.status") != "500" {
			t.Errorf("the body of a failure is lost: %s", r.Outputs)
		}
		left, err := os.ReadDir(filepath.Dir(file))
		if content, _ := os.ReadFile(file); err != nil || len(left) != 1 || string(content) != "a line of text\n" {
			t.Errorf("%v %v %q", left, err, content)
		}
	}
}

func TestHTTPIntoAPlaceThatTakesNone(t *testing.T) {
	s := webserver.Start(t)
	on := task(t)
	for name, make := range map[string]func(path string) error{
		"folder": func(path string) error { return os.Mkdir(path, 0o700) },
		"pipe":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"broken": func(path string) error { return os.Symlink("nowhere", path) },
		"file":   func(path string) error { return os.WriteFile(path, nil, 0o600) },
	} {
		if err := make(filepath.Join(on.Dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("file", filepath.Join(on.Dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"folder", "pipe", "broken", "new/", "file/", "."} {
		r := perform(t, on, "http", `{"url":"`+s.URL+`/text","output_file":"`+name+`"}`, nil)
		failedWith(t, r, fault.Execution, "output_file "+name+" is ")
	}
	if n := len(s.Requests()); n > 0 {
		t.Errorf("%d requests were made for nothing", n)
	}
	failedWith(t, perform(t, on, "http", `{"url":"`+s.URL+`/text","output_file":"file/below"}`, nil), fault.Execution, "Cannot write file/below")
	if r := perform(t, on, "http", `{"url":"`+s.URL+`/text","output_file":"link"}`, nil); r.Fault != nil {
		t.Fatal(r.Fault)
	}
	if content, err := os.ReadFile(filepath.Join(on.Dir, "file")); err != nil || string(content) != "a line of text\n" {
		t.Errorf("the link was not followed: %q %v", content, err)
	}
}

// fullDisk is a writer whose disk is full.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) {
	return 0, &fs.PathError{Op: "write", Path: "/a/path", Err: syscall.ENOSPC}
}

func TestHTTPOntoAFullDisk(t *testing.T) {
	s := webserver.Start(t)
	on := task(t)
	in, f := decode[nodetype.HTTP](prepared(t, "http", `{"url":"`+s.URL+`/text","output_file":"f"}`, nil))
	if f != nil {
		t.Fatal(f)
	}
	x, f := newExchange(t.Context(), &in, on)
	if f != nil {
		t.Fatal(f)
	}
	resp, f := x.send(t.Context())
	if f != nil {
		t.Fatal(f)
	}
	defer func() { _ = resp.Body.Close() }()
	f = x.saveFault(t.Context(), resp, x.copyBody(fullDisk{}, resp, 0))
	if f.Type != fault.Execution || !f.Retryable || f.Message != "Cannot write f: no space left on device" || len(f.Suggestions) == 0 {
		t.Errorf("%+v", f)
	}
	if _, again := x.retry(t.Context(), f); again {
		t.Error("it is tried again, as if that made room")
	}
}
