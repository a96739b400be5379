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

// rows returns the cells of the table whose header begins with the given cells.
func (p *page) rows(t *testing.T, header string) (rows [][]string) {
	t.Helper()
	at := slices.IndexFunc(p.lines, func(line string) bool { return strings.HasPrefix(line, header) })
	if at < 0 {
		t.Fatalf("%s has no table %s", p.name, header)
	}
	for _, line := range p.lines[at+2:] {
		if !strings.HasPrefix(line, "|") {
			break
		}
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		rows = append(rows, cells)
	}
	if len(rows) == 0 {
		t.Fatalf("the table %s of %s is empty", header, p.name)
	}
	return rows
}

// codeSpan is a part of a page in backquotes.
var codeSpan = "`([^`]+)`"

// spans returns the parts of a cell in backquotes.
func spans(cell string) (all []string) {
	for _, m := range regexp.MustCompile(codeSpan).FindAllStringSubmatch(cell, -1) {
		all = append(all, m[1])
	}
	return all
}

// TestCommandsInPlaceOfPflows: each command of the table exists, with its flags.
func TestCommandsInPlaceOfPflows(t *testing.T) {
	p := readPage(t, coming)
	for _, row := range p.rows(t, "| pflow | here |") {
		found := false
		for _, span := range spans(row[1]) {
			words := strings.Fields(span)
			if !strings.HasPrefix(words[0], "pflow-") {
				continue
			}
			found = true
			args := slices.Clone(words[1:])
			if end := slices.IndexFunc(args, func(w string) bool {
				return strings.Trim(w, "abcdefghijklmnopqrstuvwxyz-") != "" || strings.HasPrefix(w, "-")
			}); end >= 0 {
				args = args[:end]
			}
			out, err := exec.Command(filepath.Join(programs(t), words[0]), append(args, "--help")...).CombinedOutput()
			if err != nil || !strings.Contains(string(out), "Usage: "+words[0]+" "+strings.Join(args, " ")) {
				t.Errorf("%s: %v\n%s", span, err, out)
			}
			for _, flag := range words {
				if strings.HasPrefix(flag, "--") && flag != "--" && !strings.Contains(string(out), flag) {
					t.Errorf("%s: --help has no %s", span, flag)
				}
			}
		}
		if !found {
			t.Errorf("the row %s names no command", row[0])
		}
	}
}

// TestFlagsInPlaceOfPflows: each flag of the table is answered with what stands beside it, or is the same.
func TestFlagsInPlaceOfPflows(t *testing.T) {
	p := readPage(t, coming)
	home := t.TempDir()
	for _, row := range p.rows(t, "| flag of `pflow` | here |") {
		for _, flag := range spans(row[0]) {
			cmd := exec.Command(filepath.Join(programs(t), "pflow-exec"), append([]string{"run", "none"}, strings.Fields(flag)...)...)
			cmd.Env = append(os.Environ(), "PFLOW_HOME="+home)
			out, _ := cmd.CombinedOutput()
			unknown := strings.Contains(string(out), "unknown flag "+strings.Fields(flag)[0])
			if row[1] == "the same" {
				if unknown {
					t.Errorf("%s: %s", flag, out)
				}
				continue
			}
			want := strings.Fields(spans(row[1])[0])
			hint := regexp.MustCompile("hint: (.*)").FindString(string(out))
			if !unknown || cmd.ProcessState.ExitCode() != 2 || !strings.Contains(hint, want[0]) || len(want) > 1 && !strings.Contains(hint, want[1]) {
				t.Errorf("%s: want %s\n%s", flag, want, out)
			}
		}
	}
}

// TestDifferencesHaveACase: each difference of the table is shown by a case, which the tests of the suite run.
func TestDifferencesHaveACase(t *testing.T) {
	p := readPage(t, coming)
	link := regexp.MustCompile(`\]\((\.\./test/cases/[^)]+\.json)\)$`)
	for _, row := range p.rows(t, "| pflow | here | case |") {
		m := link.FindStringSubmatch(row[len(row)-1])
		if len(row) != 3 || m == nil {
			t.Errorf("the row %s has no case", row[0])
			continue
		}
		if _, err := os.Stat(m[1]); err != nil {
			t.Error(err)
		}
	}
}
