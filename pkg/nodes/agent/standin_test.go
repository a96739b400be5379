package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodes/agent"
	"github.com/pflow-suite/pflow/pkg/nodes/nodeprogram"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/process"
)

// script stands in for an agent. The nth call writes its arguments to args.n, its prompt to prompt.n and its directory to
// folder.n. It prints stream.n, and said.n on standard error, runs then.n, and exits with the status in exit.n.
const script = `#!/bin/sh
n=0
while [ -e "$PLACE/args.$n" ]; do n=$((n + 1)); done
printf '%s\n' "$@" >"$PLACE/args.$n"
cat >"$PLACE/prompt.$n"
pwd >"$PLACE/folder.$n"
for arg; do
    case $arg in
    --append-system-prompt-file=* | --output-schema=*) cat "${arg#*=}" >"$PLACE/file.$n" ;;
    esac
done
[ ! -e "$PLACE/said.$n" ] || cat "$PLACE/said.$n" >&2
[ ! -e "$PLACE/stream.$n" ] || cat "$PLACE/stream.$n"
[ ! -e "$PLACE/then.$n" ] || . "$PLACE/then.$n"
[ ! -e "$PLACE/exit.$n" ] || exit "$(cat "$PLACE/exit.$n")"
`

func TestMain(m *testing.M) {
	process.AdoptOrphans() // init may be slow to wait for them
	os.Exit(m.Run())
}

// standIn is a directory with a claude and a codex that run script.
type standIn struct {
	*testing.T
	place    string
	env      []string
	progress []string
	// answer is given to the next run. question is what the last run asked.
	answer   *nodeprogram.Answer
	question *nodeprogram.Question
}

func newStandIn(t *testing.T) *standIn {
	t.Helper()
	place, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &standIn{T: t, place: place}
	for _, name := range []string{"claude", "codex"} {
		s.write("bin/"+name, script)
		if err := os.Chmod(filepath.Join(place, "bin", name), 0o700); err != nil { //nolint:gosec // it is a program
			t.Fatal(err)
		}
	}
	s.env = []string{"PATH=" + filepath.Join(place, "bin") + ":/usr/bin:/bin", "PLACE=" + place, "HOME=" + place}
	return s
}

func (s *standIn) write(name, content string) {
	s.Helper()
	path := filepath.Join(s.place, name)
	syscall.ForkLock.RLock() // a child that starts now would have the program open for writing, so that it cannot be executed
	defer syscall.ForkLock.RUnlock()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600)); err != nil {
		s.Fatal(err)
	}
}

// stream makes the nth call print a recording and exit with the recorded status.
func (s *standIn) stream(n int, recording string, exit int) {
	s.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", recording+".jsonl"))
	if err != nil {
		s.Fatal(err)
	}
	s.write("stream."+strconv.Itoa(n), string(content))
	s.write("exit."+strconv.Itoa(n), strconv.Itoa(exit))
}

func (s *standIn) read(name string) string {
	s.Helper()
	b, err := os.ReadFile(filepath.Join(s.place, name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.Fatal(err)
	}
	return string(b)
}

// params decodes parameters as the program does, with the type's defaults.
func (s *standIn) params(raw string) nodetype.Agent {
	s.Helper()
	kind, _ := nodetype.Builtin("agent")
	var in nodetype.Agent
	if err := errors.Join(json.Unmarshal(kind.Defaults(), &in), json.Unmarshal([]byte(raw), &in)); err != nil {
		s.Fatal(err)
	}
	return in
}

// run runs a task.
func (s *standIn) run(ctx context.Context, raw string) (*nodetype.AgentOutputs, *fault.Fault) {
	s.Helper()
	out, question, err := agent.Run(ctx, s.params(raw), s.answer, agent.Host{
		Dir: s.place, Env: s.env, Stderr: io.Discard,
		Progress: func(done, total float64, message string, _ *nodetype.Usage) {
			s.progress = append(s.progress, strconv.Itoa(int(done))+"/"+strconv.Itoa(int(total))+" "+message)
		},
	})
	s.question = question
	return out, fault.From(err)
}

// done runs a task that must succeed.
func (s *standIn) done(raw string) *nodetype.AgentOutputs {
	s.Helper()
	out, f := s.run(s.Context(), raw)
	if f != nil {
		s.Fatalf("%s: %v", raw, f)
	}
	return out
}

// calls returns the number of calls.
func (s *standIn) calls() int {
	n := 0
	for s.read("args."+strconv.Itoa(n)) != "" {
		n++
	}
	return n
}

// has fails the test if a text does not have all parts.
func has(t *testing.T, what, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s has no %q: %s", what, part, text)
		}
	}
}
