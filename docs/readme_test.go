package docs

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/creack/pty"

	"github.com/pflow-suite/pflow/internal/terminal"
)

const (
	readme = "../README.md"
	// readmeWords is how many words a newcomer has to read at most.
	readmeWords = 1000
)

// TestReadme follows README as a newcomer does: each section in a folder of its own, its console blocks on a terminal, which must show what
// README shows. The programs in its other blocks must succeed, and the scripts must exist.
func TestReadme(t *testing.T) {
	t.Parallel()
	p := readPage(t, readme)
	if words := len(strings.Fields(strings.Join(p.lines, "\n"))); words > readmeWords {
		t.Errorf("README has %d words, more than %d", words, readmeWords)
	}
	folders := map[string]*folder{}
	ran, shown := 0, 0
	for _, b := range p.blocks {
		f := folders[b.section]
		if f == nil {
			f = newFolder(t)
			f.env = []string{"PATH=" + programs(t) + ":/usr/bin:/bin", "HOME=" + filepath.Join(f.dir, "ada"), "TERM=xterm", "LC_ALL=C"}
			folders[b.section] = f
		}
		if name := b.file(); name != "" {
			f.write(t, name, p.text(b))
		}
		switch b.info {
		case "console":
			for _, s := range p.samples(t, b) {
				shown++
				if got := f.onTerminal(t, s.command); !matchInAnyOrder(newcomers(s.want), newcomers(got)) {
					t.Errorf("README:%d: $ %s\nshows\n%s\nnot\n%s", s.line+1, s.command, strings.Join(got, "\n"), strings.Join(s.want, "\n"))
				}
			}
		case "sh":
			for _, line := range p.lines[b.first:b.end] {
				switch word, _, _ := strings.Cut(line, " "); {
				case strings.HasPrefix(word, "pflow-"):
					ran++
					f.prints(t, "exec 3>&1 > printed\n"+line+"\necho $? >&3", "0")
				case strings.HasPrefix(word, "scripts/"):
					if info, err := os.Stat(filepath.Join("..", word)); err != nil || info.Mode()&0o111 == 0 {
						t.Errorf("README has %s, which is no script: %v", word, err)
					}
				}
			}
		}
	}
	if ran == 0 || shown == 0 {
		t.Errorf("README has %d commands with what they show, and %d without", shown, ran)
	}
}

// TestReadmeNamesTheVersionOfGo that go.mod has.
func TestReadmeNamesTheVersionOfGo(t *testing.T) {
	t.Parallel()
	module, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindSubmatch(module)
	if m == nil {
		t.Fatal("go.mod has no version")
	}
	if want := "[Go](https://go.dev/dl/) " + string(m[1]) + " or later"; !strings.Contains(strings.Join(readPage(t, readme).lines, "\n"), want) {
		t.Errorf("README does not say %q", want)
	}
}

// onTerminal runs a command on a terminal, and returns the lines that the terminal shows in the end.
func (f *folder) onTerminal(t *testing.T, command string) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	cmd.Dir, cmd.Env = f.dir, f.env
	screen := terminal.Terminal{Width: 200, Height: 50}
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: uint16(screen.Height), Cols: uint16(screen.Width)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tty.Close() }()
	_, _ = tty.WriteTo(&screen) // a terminal that all programs have left is an error to read
	if err := cmd.Wait(); ctx.Err() != nil {
		t.Fatalf("$ %s: %v", command, err)
	}
	if lines := screen.Lines(); len(lines) > 1 || lines[0] != "" {
		return strings.Split(strings.ReplaceAll(strings.Join(lines, "\n"), f.dir, "/home"), "\n")
	}
	return nil
}

// newcomers returns lines as a newcomer compares them, who does not mind times, the ids of runs, how large a folder is, and blanks.
func newcomers(lines []string) []string {
	lines = slices.Clone(lines)
	for i, line := range lines {
		for _, v := range []placeholder{
			{regexp.MustCompile(`\b[\d.]+(µs|ms|s)\b`), "TIME"},
			{regexp.MustCompile(`\br[0-9a-hjkmnp-tv-z]{26}\b`), "RUN"},
			{regexp.MustCompile(`^ *\d+$|^ *\d+ files, *\d+ kB$`), "SIZE"},
			{regexp.MustCompile(` +`), " "},
		} {
			line = v.pattern.ReplaceAllString(line, v.shown)
		}
		lines[i] = line
	}
	return lines
}

// matchInAnyOrder reports whether the lines that a command shows are those of README. Nodes that run at the same time end in any order.
func matchInAnyOrder(want, got []string) bool {
	got = slices.Clone(got)
	for _, line := range want {
		at := slices.IndexFunc(got, func(shown string) bool { return matchesLine(line, shown) })
		if at < 0 {
			return false
		}
		got = slices.Delete(got, at, at+1)
	}
	return len(got) == 0
}
