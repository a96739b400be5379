package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// shared is the command that all programs have; it stands on the page once.
const shared = "completion"

// TestCommands: every command that a program's --help lists has its chapter, with its grammar in a text block, and the
// flags in the grammar are those of the command's --help. No chapter is of a command that there is not.
func TestCommands(t *testing.T) {
	p := readPage(t, contracts)
	entries, err := os.ReadDir(programs(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) == 0 {
		t.Fatal("there are no programs")
	}
	chapters := map[string]bool{}
	for _, h := range p.headings {
		chapters[h.text] = true
	}
	for _, entry := range entries {
		program := entry.Name()
		if !chapters["## "+program] {
			t.Errorf("%s has no section %q", contracts, "## "+program)
		}
		listed := commands(t, program)
		for _, command := range listed {
			if command == shared {
				if !chapters["### "+shared] {
					t.Errorf("%s has no chapter %q", contracts, "### "+shared)
				}
				continue
			}
			name := program + " " + command
			if !chapters["### "+name] {
				t.Errorf("%s has no chapter %q", contracts, "### "+name)
				continue
			}
			if got, want := p.grammarFlags(t, name), helpFlags(t, program, command); !slices.Equal(got, want) {
				t.Errorf("%s: the grammar of %s has the flags %q, its --help %q", contracts, name, got, want)
			}
		}
		for chapter := range chapters {
			command, ours := strings.CutPrefix(chapter, "### "+program+" ")
			if ours && !strings.HasPrefix(command, "-") && !slices.Contains(listed, command) {
				t.Errorf("%s has a chapter %q, and %s has no such command", contracts, chapter, program)
			}
		}
	}
}

// commands are what a program's --help lists, those of a group as one.
func commands(t *testing.T, program string) []string {
	t.Helper()
	listed := listedCommands(help(t, program))
	if len(listed) == 0 {
		t.Fatalf("%s --help lists no commands", program)
	}
	var names []string
	for _, command := range listed {
		names = append(names, strings.Fields(command)[0])
	}
	return slices.Compact(names)
}

// listedCommands are the commands that a text of help lists, such as run or settings show.
func listedCommands(text string) (names []string) {
	_, list, _ := strings.Cut(text, "\nCommands:\n")
	for _, m := range regexp.MustCompile(`(?m)^  ([a-z][a-z-]*(?: [a-z][a-z-]*)?)`).FindAllStringSubmatch(list, -1) {
		names = append(names, m[1])
	}
	return names
}

// helpFlags are a command's own flags, sorted, and those of a group's commands: those that all programs have are left out.
func helpFlags(t *testing.T, program, command string) []string {
	t.Helper()
	common := []string{"--help", "--format", "--log-level", "--log-format", "--hints", "--max-bytes", "--quiet", "--version"}
	texts := []string{help(t, program, command)}
	for _, inner := range listedCommands(texts[0]) {
		texts = append(texts, help(t, program, strings.Fields(inner)...))
	}
	var flags []string
	for _, m := range regexp.MustCompile(`(?m)^ {2,6}(?:-\w, )?--(?:\[no-\])?([a-z-]+)`).FindAllStringSubmatch(strings.Join(texts, "\n"), -1) {
		if flag := "--" + m[1]; !slices.Contains(common, flag) {
			flags = append(flags, flag)
		}
	}
	slices.Sort(flags)
	return slices.Compact(flags)
}

// grammarFlags are the flags in the first text block of a chapter, sorted.
func (p *page) grammarFlags(t *testing.T, chapter string) []string {
	t.Helper()
	at := slices.IndexFunc(p.blocks, func(b block) bool { return b.chapter == chapter && b.info == "text" })
	if at < 0 {
		t.Errorf("%s: the chapter %s has no grammar in a text block", p.name, chapter)
		return nil
	}
	grammar := p.text(p.blocks[at])
	if !strings.HasPrefix(grammar, chapter) {
		t.Errorf("%s:%d: the grammar of %s does not begin with it", p.name, p.blocks[at].first+1, chapter)
	}
	flags := regexp.MustCompile(`--[a-z][a-z-]*`).FindAllString(grammar, -1)
	slices.Sort(flags)
	return slices.Compact(flags)
}

func help(t *testing.T, program string, command ...string) string {
	t.Helper()
	out, err := exec.Command(filepath.Join(programs(t), program), append(command, "--help")...).Output()
	if err != nil {
		t.Fatalf("%s %v --help: %v", program, command, err)
	}
	return string(out)
}
