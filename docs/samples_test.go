// Package docs has no code: its tests hold the pages of this folder to what the programs do.
package docs

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pflow-suite/pflow/internal/velofluxserver"
)

var update = flag.Bool("update", false, "write what the programs printed, and the tables of fields, into the pages")

// patience is how long one command of a sample may take. It bounds what hangs, not what is slow.
const patience = 5 * time.Minute

// TestSamples runs the console blocks of each section of a page, in order, in a folder of their own, with the files that the page shows
// above its first section and in this one.
func TestSamples(t *testing.T) {
	for _, name := range []string{contracts, workflows, coming, cookbook} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			needs(t, tools[name]...)
			readPage(t, name).run(t)
		})
	}
}

func (p *page) run(t *testing.T) {
	outputs := map[int][]string{} // by the line of the command
	folders := map[string]*folder{}
	count := 0
	for _, b := range p.blocks {
		f := folders[b.section]
		if f == nil {
			f = newFolder(t)
			f.writeAll(t, p, "")
			folders[b.section] = f
		}
		if name := b.file(); name != "" {
			f.write(t, name, p.text(b))
		}
		if b.info != "console" {
			continue
		}
		for _, s := range p.samples(t, b) {
			count++
			got, err := f.run(t, s.command)
			if err != nil {
				t.Fatalf("%s:%d: $ %s: %v\n%s", p.name, s.line+1, s.command, err, strings.Join(got, "\n"))
			}
			outputs[s.line] = rewritten(s.want, got)
			if !*update && !matches(s.want, got) {
				t.Errorf("%s:%d: $ %s\nprints\n%s\nnot\n%s\n(go test ./docs -update writes what is printed into the page)",
					p.name, s.line+1, s.command, strings.Join(got, "\n"), strings.Join(s.want, "\n"))
			}
		}
	}
	if count == 0 {
		t.Fatalf("%s has no samples", p.name)
	}
	if *update && !t.Failed() {
		p.write(t, outputs)
	}
}

// write puts the outputs into the page.
func (p *page) write(t *testing.T, outputs map[int][]string) {
	t.Helper()
	var lines []string
	at := 0
	for _, b := range p.blocks {
		if b.info != "console" {
			continue
		}
		lines = append(lines, p.lines[at:b.first]...)
		for _, s := range p.samples(t, b) {
			lines = append(append(lines, p.lines[s.line]), outputs[s.line]...)
		}
		at = b.end
	}
	lines = append(lines, p.lines[at:]...)
	if err := os.WriteFile(p.name, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
}

// folder is where the samples of a section run, with the home in it.
type folder struct {
	dir string
	env []string
}

func newFolder(t *testing.T) *folder {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &folder{dir: dir, env: []string{
		"PATH=" + programs(t) + string(filepath.ListSeparator) + os.Getenv("PATH"),
		"HOME=" + dir, "PFLOW_HOME=" + filepath.Join(dir, "home"), "TMPDIR=" + dir, "LC_ALL=C", "TZ=UTC",
		"VELOFLUX_MANAGER_URL=" + velofluxserver.Start(t).URL,
	}}
}

// writeAll makes the files that a section of the page shows.
func (f *folder) writeAll(t *testing.T, p *page, section string) {
	t.Helper()
	for _, b := range p.blocks {
		if name := b.file(); name != "" && b.section == section {
			f.write(t, name, p.text(b))
		}
	}
}

// write makes a file that the page shows.
func (f *folder) write(t *testing.T, name, content string) {
	t.Helper()
	path := filepath.Join(f.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// run gives the lines that a command prints on standard output and standard error, as they stand on the page. The error
// is of a command that did not come to its end.
func (f *folder) run(t *testing.T, command string) ([]string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	cmd.Dir, cmd.Env, cmd.WaitDelay = f.dir, f.env, patience
	out, err := cmd.CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.Exited() {
		err = nil
	}
	text := strings.NewReplacer(f.dir, "/…", programs(t), "/…").Replace(string(out))
	for _, v := range volatile() {
		text = v.pattern.ReplaceAllString(text, v.shown)
	}
	if text == "" {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n"), err
}

// placeholder is what differs from run to run, and what stands for it on the page.
type placeholder struct {
	pattern *regexp.Regexp
	shown   string
}

// volatile lists the placeholders that the pages explain, besides /… for a folder.
var volatile = sync.OnceValue(func() []placeholder {
	return []placeholder{
		{regexp.MustCompile(`\br[0-9a-hjkmnp-tv-z]{26}\b`), "r01…"},
		{regexp.MustCompile(`\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`), "2026-…Z"},
		{regexp.MustCompile(`"(\w*duration_ms|\w+_items?_ms)":[0-9.e-]+`), `"$1":1.5`},
		{regexp.MustCompile(`"ts_ms":\d+`), `"ts_ms":1795…`},
		{regexp.MustCompile(`"latency_ms":\d+`), `"latency_ms":2`},
		{regexp.MustCompile(`"((?:trace|span|parent_span|resumed_trace|resumed_span)_id)":"[0-9a-f]+"`), `"$1":"0af7…"`},
		{regexp.MustCompile(`"spent":\{"minutes":[0-9.e-]+\}`), `"spent":{}`},
		{regexp.MustCompile(`\d+(\.\d+)? minutes spent`), "0.05 minutes spent"},
		{regexp.MustCompile(`"bytes":\d+,"dry_run"`), `"bytes":8192,"dry_run"`},
		{regexp.MustCompile(`"token":"[0-9A-Za-z]{12}"`), `"token":"x8Kd…"`},
		{regexp.MustCompile(`pflow_[0-9A-Za-z_-]{43}`), "pflow_…"},
		{regexp.MustCompile(`\bjob_[0-9A-Za-z]{16}\b`), "job_…"},
		{regexp.MustCompile(`\bsha256:[0-9a-f]{64}(\.[0-9a-f]{16})?\b`), "sha256:…"},
		{regexp.MustCompile(`(?m)^(pflow-[a-z]+ \d+\.\d+\.\d+) \([^()]*\)$`), "$1"}, // the build may record the commit
		{regexp.MustCompile(`\b127\.0\.0\.1:\d{4,5}\b`), "127.0.0.1:8080"},
	}
})

// built holds the programs of the suite for all tests: a folder of theirs, or that which $CASE_PROGRAMS names.
var built = os.Getenv("CASE_PROGRAMS")

func TestMain(m *testing.M) {
	flag.Parse()
	if built != "" {
		os.Exit(m.Run())
	}
	dir, err := os.MkdirTemp("", "pflow-docs-")
	if err != nil {
		panic(err)
	}
	built = dir
	status := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(status)
}

// programs gives the folder of the programs, which are built once.
func programs(t *testing.T) string {
	t.Helper()
	if err := build(); err != nil {
		t.Fatal(err)
	}
	return built
}

var build = sync.OnceValue(func() error {
	if os.Getenv("CASE_PROGRAMS") != "" {
		return nil
	}
	out, err := exec.Command("go", "build", "-o", built+string(filepath.Separator), "../cmd/...").CombinedOutput()
	if err != nil {
		return fmt.Errorf("go build: %w\n%s", err, bytes.TrimSpace(out))
	}
	return nil
})
