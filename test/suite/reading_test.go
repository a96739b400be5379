package suite

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/internal/brief"
	"golang.org/x/sys/unix"
)

// readingPlace has workflows with inputs, and zero that the tests of reading read.
func readingPlace(t *testing.T) *place {
	t.Helper()
	p := newPlace(t)
	p.write("w.json", `{"inputs":{"a":{"type":"string","default":""},"b":{"type":"string","default":""}},"nodes":[{"id":"n","type":"echo","params":{"message":"${a}${b}"}}]}`)
	p.write("piped.json", `{"inputs":{"a":{"type":"string","stdin":true}},"nodes":[{"id":"n","type":"echo","params":{"message":"${a}"}}]}`)
	p.write("home/mcp-servers.json", `{"mcpServers":{"server":{"command":"cat"}}}`)
	return p
}

// stdinReaders are command lines that read standard input.
var stdinReaders = []string{
	"pflow-lib check -", "pflow-lib graph -", "pflow-lib settings set-env NAME -", "pflow-exec run -", "pflow-exec run w.json --inputs -",
	"pflow-exec run w.json --env-file -", "pflow-exec run w.json --resume -", "pflow-exec run w.json a=@-", "pflow-exec run piped.json",
	"pflow-exec start w.json --inputs -", "pflow-exec report -", "pflow-exec detached", "pflow-sync add -", "pflow-sync call server tool -",
	"veloflux-mcp call streams.list -", "pflow-node-jq", "pflow-node-llm", "pflow-node-agent",
}

// ends sends a signal and checks that the program ends by it and reports zero.
func (p *place) ends(cmd *exec.Cmd, sig syscall.Signal) {
	p.Helper()
	var stderr bytes.Buffer
	_ = cmd.Process.Signal(sig)
	_ = cmd.Wait()
	if out, ok := cmd.Stderr.(*bytes.Buffer); ok {
		stderr = *out
	}
	if status := cmd.ProcessState.ExitCode(); status != 128+int(sig) || strings.Contains(stderr.String(), "error") {
		p.Errorf("%s: %v, standard error %q", sig, cmd.ProcessState, stderr.String())
	}
}

// drained waits until everything that was written into a pipe has been read.
func (p *place) drained(pipe *os.File) {
	p.Helper()
	p.eventually("the program reads", func() bool {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(pipe.Fd()), Events: unix.POLLIN}}, 0)
		return err == nil && n == 0
	})
}

func TestASignalEndsAProgramThatReadsStandardInput(t *testing.T) {
	t.Parallel()
	for _, line := range stdinReaders {
		for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
			if sig != syscall.SIGTERM && line != stdinReaders[0] {
				continue
			}
			t.Run(line+" "+sig.String(), func(t *testing.T) {
				t.Parallel()
				p := readingPlace(t)
				r, w, err := os.Pipe()
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _, _ = r.Close(), w.Close() }()
				if _, err := w.WriteString("\n"); err != nil {
					t.Fatal(err)
				}
				args := strings.Fields(line)
				cmd := p.command(args[0], args[1:]...)
				cmd.Stdin, cmd.Stderr = r, &bytes.Buffer{}
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				p.drained(r)
				p.ends(cmd, sig)
			})
		}
	}
}

// Each command reads the named pipe "pipe", whose writer is silent.
func TestASignalEndsAProgramThatReadsAPipe(t *testing.T) {
	t.Parallel()
	for line, at := range map[string]string{
		"pflow-lib check ./pipe":                               "pipe",
		"pflow-lib graph ./pipe":                               "pipe",
		"pflow-exec run ./pipe":                                "pipe",
		"pflow-exec run w.json --inputs pipe":                  "pipe",
		"pflow-exec run w.json --env-file pipe":                "pipe",
		"pflow-exec run w.json --resume ./pipe":                "pipe",
		"pflow-exec run w.json a=@pipe":                        "pipe",
		"pflow-sync add pipe":                                  "pipe",
		"pflow-sync call server tool a=@pipe":                  "pipe",
		"veloflux-mcp call streams.list a=@pipe":               "pipe",
		"veloflux-mcp call streams.list --tls-ca-file pipe":    "pipe",
		"veloflux-mcp call streams.list --header-file pipe":    "pipe",
		"pflow-lib settings get":                               "home/settings.json",
		"pflow-lib search shell":                               "home/registry.json",
		"pflow-sync list":                                      "home/mcp-servers.json",
		"pflow-exec run w.json a=@./w.json --inputs ./pipe -q": "pipe",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			p := readingPlace(t)
			if err := os.MkdirAll(filepath.Dir(filepath.Join(p.dir, at)), 0o700); err != nil {
				t.Fatal(err)
			}
			_ = os.Remove(filepath.Join(p.dir, at))
			g := p.gate(at)
			args := strings.Fields(line)
			cmd := p.command(args[0], args[1:]...)
			cmd.Stderr = &bytes.Buffer{}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			_ = g.reached()
			p.ends(cmd, syscall.SIGTERM)
		})
	}
}

// The program has read one pipe, and then opens another that nobody ever writes to.
func TestASignalEndsAProgramThatOpensAPipeWithoutAWriter(t *testing.T) {
	t.Parallel()
	p := readingPlace(t)
	first := p.gate("first")
	p.gate("second")
	cmd := p.command("pflow-exec", "run", "w.json", "a=@first", "b=@second")
	cmd.Stderr = &bytes.Buffer{}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	first.reached()()
	first.left()
	p.ends(cmd, syscall.SIGTERM)
}

// A report is written to a pipe that nobody ever reads.
func TestASignalEndsAProgramThatWritesToAPipeWithoutAReader(t *testing.T) {
	t.Parallel()
	p := readingPlace(t)
	p.must("pflow-exec", "run", "w.json")
	p.gate("page")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	if _, err := w.WriteString(p.journal()); err != nil {
		t.Fatal(err)
	}
	cmd := p.command("pflow-exec", "report", "-", "-o", "page")
	cmd.Stdin, cmd.Stderr = r, &bytes.Buffer{}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.drained(r)
	_ = w.Close()
	p.ends(cmd, syscall.SIGTERM)
}

// Endless input is refused by its limit, within a memory of 2 GB.
func TestEndlessInputIsRefused(t *testing.T) {
	t.Parallel()
	needsLinux(t, "/dev/zero and ulimit -v are as on Linux")
	const zero = "</dev/zero"
	type endless struct{ source, line, limit string }
	var cases []endless
	for i, line := range stdinReaders {
		source := []string{zero, "yes |"}[i%2]
		limit := "64 MiB"
		switch {
		case line == "pflow-node-jq":
			source, limit = "yes |", "128 MiB"
		case line == "pflow-exec run piped.json": // a device is not piped in
			source = "yes |"
		case strings.Contains(line, "check"), strings.Contains(line, "graph"), line == "pflow-exec run -":
			limit = "16 MiB"
		case strings.Contains(line, "detached"): // ends at the first byte that is not JSON
			continue
		case strings.Contains(line, "report"), strings.Contains(line, "--resume"):
			source = zero // one line
		}
		cases = append(cases, endless{source, line, limit})
	}
	for _, line := range []string{
		"pflow-exec run w.json a=@/dev/zero", "pflow-exec run w.json --env-file /dev/zero", "pflow-exec run w.json --inputs /dev/zero", "pflow-sync add /dev/zero",
		"veloflux-mcp call streams.list a=@/dev/zero",
	} {
		cases = append(cases, endless{"", line, "64 MiB"})
	}
	cases = append(cases, endless{"", "pflow-lib check /dev/zero", "16 MiB"}, endless{"", "pflow-exec run w.json --resume /dev/zero", "64 MiB"})
	items := `{ echo '{"v":1,"event":"run_started","run":"r"}'; yes '{"v":1,"event":"item_completed","node":"n","item":1,"outputs":{"a":"` + strings.Repeat("x", 1000) + `"}}'; } |`
	cases = append(cases, endless{items, "pflow-exec report -", "256 MiB"})
	for _, c := range brief.Part(cases, 3) {
		t.Run(c.source+" "+c.line, func(t *testing.T) {
			p := readingPlace(t)
			p.refused(c.limit, fmt.Sprintf("%s (ulimit -v 2000000; exec %s) %s", strings.TrimSuffix(c.source, zero), c.line, strings.Repeat(zero, strings.Count(c.source, zero))))
		})
	}
}

// A file of the home is refused by its limit.
func TestALargeFileOfTheHomeIsRefused(t *testing.T) {
	t.Parallel()
	for file, lines := range map[string][]string{
		"settings.json":          {"pflow-lib settings get", "pflow-exec run w.json"},
		"registry.json":          {"pflow-lib describe nothing", "pflow-sync nodes"},
		"mcp-servers.json":       {"pflow-sync list"},
		"workflows/large.json":   {"pflow-lib show large", "pflow-lib check large", "pflow-lib save large new", "pflow-exec run large"},
		"library/large.pflow.md": {"pflow-lib show large", "pflow-lib describe large"},
	} {
		for _, line := range lines {
			t.Run(file+" "+line, func(t *testing.T) {
				t.Parallel()
				p := readingPlace(t)
				p.write("home/library/good.json", chain("echo hello"))
				if err := os.Truncate(p.write("home/"+file, ""), 64<<20+1); err != nil {
					t.Fatal(err)
				}
				limit := "64 MiB"
				if strings.Contains(file, "large") {
					limit = "16 MiB"
				}
				p.refused(limit, "ulimit -v 2000000; exec "+line)
			})
		}
	}
}

// The workflow that a run has stored is refused by its limit.
func TestALargeWorkflowOfARunIsRefused(t *testing.T) {
	t.Parallel()
	p := readingPlace(t)
	p.must("pflow-exec", "run", "w.json")
	stored, err := filepath.Glob(filepath.Join(p.home, "runs", "r*", "workflow.json"))
	if err != nil || len(stored) != 1 {
		t.Fatal(stored, err)
	}
	if err := os.Truncate(stored[0], 64<<20+1); err != nil {
		t.Fatal(err)
	}
	p.refused("64 MiB", "ulimit -v 2000000; exec pflow-exec resume last")
}

// refused runs a line of shell and checks that it is refused as too long, with exit status 2.
func (p *place) refused(limit, line string) {
	p.Helper()
	cmd := p.command("sh", "-c", line)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	_ = cmd.Run()
	o := outcome{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
	lines := strings.Split(strings.TrimSpace(o.stdout), "\n")
	answer := gjson.Parse(lines[len(lines)-1]).Get("error")
	message, kind := answer.Get("message").Str+answer.Get("error_message").Str, answer.Get("type").Str+answer.Get("error_code").Str
	if o.exit != 2 || !slices.Contains([]string{"validation_error", "invalid_params"}, kind) || !strings.Contains(message, limit) || !json.Valid([]byte(lines[len(lines)-1])) ||
		strings.Contains(o.stderr, "goroutine ") {
		p.Errorf("%s: %s", line, outcome{o.stdout, o.stderr[:min(len(o.stderr), 2000)], o.exit})
	}
}
