package suite

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/internal/brief"
)

// endlessServer answers every request with a document that does not end: JSON, or events below /events.
func endlessServer(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		kind, begin, text := "application/json", `{"a":"`, strings.Repeat("x", 64<<10)
		if strings.HasPrefix(r.URL.Path, "/events") {
			kind, begin = "text/event-stream", "data: "
		}
		w.Header().Set("Content-Type", kind)
		_, err := io.WriteString(w, begin)
		for err == nil {
			_, err = io.WriteString(w, text)
		}
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL
}

// What a service, a tool or a program sends without end is refused by its limit, within a memory of 3 GB.
func TestEndlessAnswersAreRefused(t *testing.T) {
	t.Parallel()
	needsLinux(t, "/dev/zero and ulimit -v are as on Linux")
	url := endlessServer(t)
	for _, c := range brief.Part([]struct {
		name, workflow, line, kind, limit string
	}{
		{name: "a file", workflow: `{"type":"read-file","params":{"file_path":"/dev/zero","allow_special":true}}`, kind: "too_large", limit: "128 MiB"},
		{name: "an HTTP response", workflow: `{"type":"http","params":{"url":"URL"}}`, kind: "too_large", limit: "67108864"},
		{name: "a certificate", workflow: `{"type":"http","params":{"url":"https://127.0.0.1:1/","ca_file":"/dev/zero"}}`, kind: "execution_error", limit: "1048576"},
		{name: "a model of OpenAI", workflow: `{"type":"llm","params":{"provider":"openai","model":"m","prompt":"p","api_key":"k","base_url":"URL"}}`, kind: "too_large", limit: "64 MiB"},
		{name: "a model of Anthropic", workflow: `{"type":"llm","params":{"provider":"anthropic","model":"m","prompt":"p","api_key":"k","base_url":"URL"}}`, kind: "too_large", limit: "64 MiB"},
		{name: "an agent", workflow: `{"type":"agent","params":{"command":"./program","prompt":"p"}}`, kind: "protocol_error", limit: "16 MiB"},
		{name: "a node program", workflow: `{"type":"endless"}`, kind: "too_large", limit: "128 MiB"},
		{name: "an MCP server", workflow: `{"type":"mcp-stdio-x"}`, kind: "too_large", limit: "64 MiB"},
		{name: "an MCP server over HTTP", workflow: `{"type":"mcp-http-x"}`, kind: "too_large", limit: "64 MiB"},
		{name: "an event of an MCP server", workflow: `{"type":"mcp-events-x"}`, kind: "protocol_error", limit: "67108864"},
		{name: "a sync with an MCP server", line: "pflow-sync sync stdio", kind: "too_large", limit: "64 MiB"},
		{name: "a sync over HTTP", line: "pflow-sync sync http", kind: "too_large", limit: "64 MiB"},
		{name: "a call over HTTP", line: "pflow-sync call http x", kind: "too_large", limit: "64 MiB"},
		{name: "a declaration", line: "pflow-sync nodes", kind: "too_large", limit: "1024 KiB"},
		{name: "a Manager", line: "veloflux-mcp call streams.list --manager-url URL", kind: "manager_http_error", limit: "32 MiB"},
	}, 3) {
		t.Run(c.name, func(t *testing.T) {
			p := newPlace(t)
			p.write("program", "#!/bin/sh\nexec cat /dev/zero\n")
			p.write("home/nodes/pflow-node-endless", "#!/bin/sh\n[ \"$1\" = --describe ] && test -e known && exec echo '{\"interface\":{\"description\":\"d\",\"params\":[],\"outputs\":[]}}'\nexec cat /dev/zero\n")
			for _, program := range []string{"program", "home/nodes/pflow-node-endless"} {
				if err := os.Chmod(filepath.Join(p.dir, program), 0o700); err != nil { //nolint:gosec // it is a program
					t.Fatal(err)
				}
			}
			p.write("home/mcp-servers.json", strings.ReplaceAll(`{"mcpServers":{"stdio":{"command":"sh","args":["-c","read x; printf '{\"a\":\"'; exec cat /dev/zero"]},"http":{"url":"URL/mcp"},"events":{"url":"URL/events"}}}`, "URL", url))
			line := c.line
			if c.workflow != "" {
				p.write("known", "")
				if strings.Contains(c.workflow, "endless") {
					p.must("pflow-sync", "nodes")
				}
				p.write("w.json", `{"nodes":[{"id":"a",`+strings.ReplaceAll(c.workflow[1:], "URL", url)+`]}`)
				line = "pflow-exec run w.json"
			}
			cmd := p.command("sh", "-c", "ulimit -v 3000000; exec "+strings.ReplaceAll(line, "URL", url))
			var stdout, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			_ = cmd.Run()
			o := outcome{stdout.String(), stderr.String()[:min(stderr.Len(), 2000)], cmd.ProcessState.ExitCode()}
			found := false
			for answer := range strings.Lines(o.stdout) {
				for _, path := range []string{"error", "servers.0.error", "failed.0.error"} {
					e := gjson.Get(answer, path)
					kind, message := e.Get("type").Str+e.Get("error_code").Str, e.Get("message").Str+e.Get("error_message").Str
					found = found || kind == c.kind && strings.Contains(message, c.limit)
				}
			}
			if !found || o.exit != 1 || strings.Contains(o.stderr, "goroutine ") {
				t.Errorf("%s: %s", line, o)
			}
		})
	}
}

// A journal with a line that does not end is refused by its limit, within a memory of 2 GB.
func TestALargeJournalOfARunIsRefused(t *testing.T) {
	t.Parallel()
	needsLinux(t, "ulimit -v is as on Linux")
	p := readingPlace(t)
	p.must("pflow-exec", "run", "w.json")
	if err := os.Truncate(p.journals()[0], 8<<30); err != nil {
		t.Fatal(err)
	}
	for line, limit := range map[string]string{
		"status last": "64 MiB", "events last": "64 MiB", "events last --inline": "64 MiB", "events last --follow": "1 MiB", "show last": "64 MiB", "logs last": "64 MiB",
		"report last": "64 MiB", "wait last": "1 MiB", "cancel last": "1 MiB", "resume last": "64 MiB", "run w.json --resume last": "64 MiB",
	} {
		p.refused(limit, "ulimit -v 2000000; exec pflow-exec "+line+" --format json")
	}
}

// A signal ends a program that has very much to print.
func TestASignalEndsAProgramThatPrintsALongLog(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("w.json", chain("echo hello"))
	p.must("pflow-exec", "run", "w.json")
	logs, err := filepath.Glob(filepath.Join(p.home, "runs", "r*", "logs", "*.stdout"))
	if err != nil || len(logs) != 1 {
		t.Fatal(logs, err)
	}
	if err := os.Truncate(logs[0], 100<<30); err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"json", "text"} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd := p.command("pflow-exec", "logs", "last", "--format", format)
		cmd.Stdout, cmd.Stderr = w, &bytes.Buffer{}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		_ = w.Close()
		if _, err := io.ReadFull(r, make([]byte, 1<<20)); err != nil { // it prints
			t.Fatal(err)
		}
		go func() { _, _ = io.Copy(io.Discard, r) }()
		p.ends(cmd, syscall.SIGTERM)
		_ = r.Close()
	}
}
