package suite

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/creack/pty"
)

// completingShells are the shells with the files that make them ready to complete. The key ^G writes the line that is edited to the file
// $LINE.
var completingShells = []struct {
	name  string
	args  []string
	setup string
}{
	{"bash", []string{"--noprofile", "--rcfile", "RC", "-i"}, `
PS1='READY> '
bind 'set bell-style none'
bind 'set enable-bracketed-paste off'
dump() { printf '%s' "$READLINE_LINE" >"$LINE.new"; mv "$LINE.new" "$LINE"; }
bind -x '"\C-g": dump'
for program in pflow-exec pflow-lib pflow-sync pflow-serve; do source <($program completion bash); done
`},
	{"zsh", []string{"-d", "-i"}, `
PS1='READY> '
unsetopt beep zle_bracketed_paste 2>/dev/null
autoload -Uz compinit && compinit -D -u
dump() { printf '%s' "$BUFFER" >"$LINE.new"; mv "$LINE.new" "$LINE" }
zle -N dump
bindkey -e
bindkey '^G' dump
for program in pflow-exec pflow-lib pflow-sync pflow-serve; do source <($program completion zsh); done
`},
	{"fish", []string{"--private", "--init-command", "source RC", "-i"}, `
function fish_prompt; printf 'READY> '; end
function fish_greeting; end
function dump; printf '%s' (commandline | string collect) >"$LINE.new"; mv "$LINE.new" "$LINE"; end
bind \cg dump
for program in pflow-exec pflow-lib pflow-sync pflow-serve; $program completion fish | source; end
`},
}

// completingShell is a shell on a pseudo-terminal.
type completingShell struct {
	*place
	name   string
	tty    *os.File
	line   string // the file that ^G writes
	screen atomic.Pointer[string]
}

func startShell(p *place, name string, args []string, setup string) *completingShell {
	p.Helper()
	rc := p.write("rc/.zshrc", setup)
	s := &completingShell{place: p, name: name, line: filepath.Join(p.dir, "rc", "line")}
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "RC", rc)
	}
	cmd := withTest(exec.Command(name, args...))
	cmd.Dir = p.dir
	cmd.Env = append(append([]string{}, p.env...), "TERM=xterm", "ZDOTDIR="+filepath.Dir(rc), "LINE="+s.line, "LC_ALL=C.UTF-8", "XDG_CONFIG_HOME="+p.dir+"/rc", "XDG_DATA_HOME="+p.dir+"/rc")
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 200})
	if err != nil {
		p.Fatal(err)
	}
	s.tty = tty
	read := make(chan struct{})
	go func() {
		defer close(read)
		var all []byte
		buf := make([]byte, 4096)
		for {
			n, err := tty.Read(buf)
			all = append(all, buf[:n]...)
			shown := string(all)
			s.screen.Store(&shown)
			if err != nil {
				return
			}
		}
	}()
	p.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = tty.Close()
		<-read
	})
	s.await(func() bool { return strings.Contains(s.shown(), "READY> ") })
	return s
}

// shown returns all that the shell has written.
func (s *completingShell) shown() string {
	if shown := s.screen.Load(); shown != nil {
		return *shown
	}
	return ""
}

func (s *completingShell) await(done func() bool) {
	s.Helper()
	for deadline := time.Now().Add(patience); !done(); {
		if time.Now().After(deadline) {
			s.Fatalf("%s does not answer; it shows:\n%q", s.name, s.shown())
		}
		<-time.After(2 * time.Millisecond)
	}
}

// completed types a line and the key TAB, and returns what the line is then.
func (s *completingShell) completed(typed string) string {
	s.Helper()
	if _, err := io.WriteString(s.tty, typed+"\t\a"); err != nil {
		s.Fatal(err)
	}
	var line []byte
	s.await(func() (done bool) {
		var err error
		if line, err = os.ReadFile(s.line); err != nil && !errors.Is(err, fs.ErrNotExist) {
			s.Fatal(err)
		}
		return err == nil
	})
	if err := os.Remove(s.line); err != nil {
		s.Fatal(err)
	}
	if _, err := io.WriteString(s.tty, "\x15"); err != nil {
		s.Fatal(err)
	}
	return string(line)
}

// completionPlace has a saved workflow hello, a draft greeting, a run, a server front and files.
func completionPlace(t *testing.T) *place {
	t.Helper()
	p := newPlace(t)
	workflow := `{"inputs":{"who":{"type":"string","default":"x"},"loud":{"type":"boolean","default":false},"file":{"default":""}},
		"nodes":[{"id":"compose","type":"shell","params":{"command":"echo hello"}}]}`
	p.write("home/workflows/greeting.json", workflow)
	p.write("home/library/hello.json", workflow)
	p.write("home/workflows/peculiar.json", `{"inputs":{"odd 'n$me":{}},"nodes":[]}`)
	for _, name := range []string{"data.txt", "local.json", "spa ce's $x.json", "folder/deep.json", "-dash.json"} {
		p.write(name, workflow)
	}
	return p
}

// TestShellsComplete types command lines in real shells on pseudo-terminals.
func TestShellsComplete(t *testing.T) {
	t.Parallel()
	cases := []struct {
		typed string
		want  string            // what follows the typed text
		in    map[string]string // the whole line, by shell, where they quote differently
	}{
		{typed: "pflow-exec stat", want: "us "},
		{typed: "pflow-exec detach", want: ""}, // a hidden command
		{typed: "pflow-exec run --dry", want: "-run "},
		{typed: "pflow-exec logs --stream=stde", want: "rr "},
		{typed: "pflow-exec logs --stream stdo", want: "ut "},
		{typed: "pflow-exec run hel", want: "lo "},
		{typed: "pflow-exec run greet", want: "ing "},
		{typed: "pflow-exec run loc", want: "al.json "},
		{typed: "pflow-exec run ./loc", want: "al.json "},
		{typed: "pflow-exec run folder/de", want: "ep.json "},
		{typed: "pflow-exec run --inputs da", want: "ta.txt "},
		{typed: "pflow-exec run --inputs=da", want: "ta.txt "},
		{typed: "pflow-exec run -C fol", want: "der/"},
		{typed: "pflow-exec run hello wh", want: "o="},
		{typed: "pflow-exec run 'hello' lo", want: "ud="},
		{typed: "pflow-exec run ./local.json wh", want: "o="},
		{typed: "pflow-exec run hello loud=t", want: "rue "},
		{typed: "pflow-exec run hello who=x loud=fa", want: "lse "},
		{typed: "pflow-exec run hello file=@da", want: "ta.txt "},
		{typed: "pflow-exec run hello file=@folder/d", want: "eep.json "},
		{typed: "pflow-exec run hello file=da", want: "ta.txt "},
		{typed: "pflow-exec run --only comp", want: ""},
		{typed: "pflow-exec run hello --only comp", want: "ose "},
		{typed: "pflow-exec show la", want: "st "},
		{typed: "pflow-exec show last comp", want: "ose "},
		{typed: "pflow-exec list --status compl", want: "eted "},
		{typed: "pflow-lib describe hel", want: "lo "},
		{typed: "pflow-lib draft check greet", want: "ing "},
		{typed: "pflow-sync show fro", want: "nt "},
		{typed: "pflow-sync call front execu", want: "te "},
		{typed: "pflow-sync call front execute resu", want: "me="},
		{typed: "pflow-exec node write-f", want: "ile "},
		{typed: "pflow-exec node write-file file_pa", want: "th="},
		{typed: "pflow-exec run spa", in: map[string]string{
			"bash": `pflow-exec run spa\ ce\'s\ \$x.json `, "zsh": `pflow-exec run spa\ ce\'s\ \$x.json `, "fish": `pflow-exec run spa\ ce\'s\ \$x.json `,
		}},
		{typed: "pflow-exec run 'spa", in: map[string]string{
			"bash": `pflow-exec run 'spa ce'\''s $x.json' `, "zsh": `pflow-exec run 'spa ce'\''s $x.json`, "fish": `pflow-exec run 'spa ce\'s $x.json' `,
		}},
		{typed: `pflow-exec run hello file=@"spa`, in: map[string]string{
			"bash": `pflow-exec run hello file=@"spa ce's \$x.json" `, "zsh": `pflow-exec run hello file=@spa\ ce\'s\ \$x.json `, "fish": `pflow-exec run hello file=@"spa ce's \$x.json" `,
		}},
		{typed: "pflow-exec run peculiar odd", in: map[string]string{
			"bash": `pflow-exec run peculiar odd\ \'n\$me=`, "zsh": `pflow-exec run peculiar odd\ \'n\$me=`, "fish": `pflow-exec run peculiar odd\ \'n\$me=`,
		}},
		{typed: "pflow-exec resume last lou", want: "d="},
		{typed: "pflow-exec resume last loud=tr", want: "ue "},
		{typed: "pflow-serve install claude-c", want: "ode "},
		{typed: "pflow-serve --toolsets core,dra", want: "fts "},
		{typed: "pflow-serve http --toolsets=core,dra", want: "fts "},
		{typed: "true; X=1 pflow-exec run hel", want: "lo "},
	}
	p := completionPlace(t)
	for _, line := range []string{"pflow-exec run hello", "pflow-sync add front -- pflow-serve", "pflow-sync sync front"} {
		p.must(strings.Fields(line)[0], strings.Fields(line)[1:]...)
	}
	before := p.files()
	for _, shell := range completingShells {
		t.Run(shell.name, func(t *testing.T) {
			needs(t, shell.name)
			q := *p
			q.T = t
			s := startShell(&q, shell.name, shell.args, shell.setup)
			for _, c := range cases {
				want := c.typed + c.want
				if c.in != nil {
					want = c.in[shell.name]
				}
				if got := s.completed(c.typed); got != want {
					t.Errorf("%q becomes %q, not %q", c.typed, got, want)
				}
			}
			if t.Failed() {
				t.Logf("%q", s.shown())
			}
		})
	}
	p.checkUnchanged(before)
}
