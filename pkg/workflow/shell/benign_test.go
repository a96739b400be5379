package shell

import "testing"

const notThere = "ls: cannot access '*.x': No such file or directory\n"

func TestBenign(t *testing.T) {
	for _, c := range []struct {
		command string
		code    int
		stderr  string
		want    string
	}{
		{"echo x | grep zzz", 1, "", "grep found no match"},
		{"grep zzz file", 1, "", "grep found no match"},
		{"LC_ALL=C /usr/bin/egrep -q zzz <file", 1, "", "egrep found no match"},
		{"cd /x && rg zzz", 1, "", "rg found no match"},
		{"grep a f && grep b f", 1, "", "grep found no match"},
		{"test -f x || grep y z", 1, "", "grep found no match"},
		{"false; grep y z", 1, "", "grep found no match"},
		{"(cd x; { fgrep y z; })", 1, "", "fgrep found no match"},
		{"git -C dir --no-pager grep -n x", 1, "", "git grep found no match"},
		{"sudo grep x y", 1, "", "grep found no match"},
		{"set -u; grep x y", 1, "", "grep found no match"},
		{"grep \"${PFLOW_T1}\" y", 1, "", "grep found no match"},
		{"which no-such", 1, "", "which did not find no-such"},
		{"which no-such", 1, "which: no no-such in (/bin)\n", "which did not find no-such"},
		{"command -v no-such", 127, "", "command did not find no-such"},
		{"type a b", 127, "sh: 1: type: a: not found\n", "type did not find a or b"},
		{"ls *.x", 2, notThere, "no file matches *.x"},
		{"ls -l dir/*.x", 1, "ls: dir/*.x: No such file or directory\n", "no file matches dir/*.x"},
		{"ls *.x 2>/dev/null", 2, "", "no file matches *.x"},

		{"grep zzz file", 2, "", ""},
		{"grep zzz file", 1, "grep: file: No such file\n", ""},
		{"if grep x f; then false; fi", 1, "", ""},
		{"for f in a b; do grep x $f; done", 1, "", ""},
		{"while grep x f; do exit 1; done", 1, "", ""},
		{"case x in x) grep a b;; esac", 1, "", ""},
		{"set -e; grep x f", 1, "", ""},
		{"set -o pipefail; false | grep x", 1, "", ""},
		{"set -eu\ngrep x f", 1, "", ""},
		{"test -f x && grep y z", 1, "", ""},
		{"cd x 2>/dev/null && grep y z", 1, "", ""},
		{"{ cd x; } >&2 && grep y z", 1, "", ""},
		{"test -f x || exit 1; grep y z", 1, "", ""},
		{"! grep x f", 1, "", ""},
		{"grep x f | wc -l", 1, "", ""},
		{"grep x f && false", 1, "", ""},
		{"grep x f; false", 1, "", ""},
		{"grep() { false; }; grep x", 1, "", ""},
		{"false 'grep x'", 1, "", ""},
		{"sh -c 'grep x f'", 1, "", ""},
		{"python3 grep", 1, "", ""},
		{"\"$tool\" x; grep x y", 1, "", ""}, // it may be exit
		{"diff a b", 1, "", ""},
		{"git diff --exit-code grep", 1, "", ""},
		{"command grep-all", 1, "", ""},
		{"ls nothing", 2, "ls: cannot access 'nothing': No such file or directory\n", ""},
		{"ls '*.x'", 2, notThere, ""},
		{"ls *.x nothing", 2, notThere + "ls: cannot access 'nothing': No such file or directory\n", ""},
		{"ls dir/*.x", 2, "ls: cannot access 'dir/*.x': Permission denied\n", ""},
		{"ls *.x", 2, "", ""},
		{"type x", 1, "a word\n", ""},
		{"grep 'x", 1, "", ""},
		{"grep x &", 1, "", ""},
		{"", 1, "", ""},
	} {
		if reason, ok := Benign(c.command, c.code, c.stderr); reason != c.want && ok || ok != (c.want != "") {
			t.Errorf("%s (%d, %q): %q %v, want %q", c.command, c.code, c.stderr, reason, ok, c.want)
		}
	}
}

func TestSearches(t *testing.T) {
	for command, want := range map[string]string{
		"echo x | grep -q zzz":       "grep found no match",
		"cd /x && ls *.txt":          "no file matches *.txt",
		"command -v tool":            "command did not find tool",
		"grep a f && grep b f":       "grep found no match",
		"grep a f | wc -l":           "",
		"grep a f || true":           "",
		"set -e; grep a f":           "",
		"ls file":                    "",
		"echo grep":                  "",
		"test -f x && grep y z":      "",
		"grep a f; echo done":        "",
		"if grep -q a f; then x; fi": "",
	} {
		if reason, ok := Searches(command); ok != (want != "") || reason != want {
			t.Errorf("%s: %q, %v", command, reason, ok)
		}
	}
}
