package shell

import (
	"os/exec"
	"strings"
	"testing"
)

func TestDirect(t *testing.T) {
	for command, want := range map[string]string{
		"/bin/true": "/bin/true", "git log --oneline -5": "git|log|--oneline|-5", "  make  -j2 ": "make|-j2", "env A=b x": "env|A=b|x",
		"true": "", "echo hi": "", "A=b make": "", "A+=b make": "", "./a=b": "./a=b", "1=2": "1=2", "chdir /": "", "coproc x": "", "[ a = b": "", "/usr/bin/test a": "/usr/bin/test|a", "ls *": "", "ls ~": "", "a; b": "", "a 'b'": "", "a\nb": "", "": "", " ": "", "cd /": "", "a#b": "", "a $b": "", "a {b,c}": "",
	} {
		words, ok := Direct(command)
		if got := strings.Join(words, "|"); ok != (want != "") || ok && got != want {
			t.Errorf("Direct(%q) = %q %v, want %q", command, got, ok, want)
		}
	}
}

// TestDirectKnowsTheShells asks the shells that are here what they answer themselves.
func TestDirectKnowsTheShells(t *testing.T) {
	for shell, list := range map[string]string{
		"bash": "compgen -b; compgen -k",
		"dash": `for w in alias bg break cd chdir command continue echo eval exec exit export false fc fg getopts hash jobs kill let local printf pwd read readonly return set shift test times trap true type ulimit umask unalias unset wait . : [ if then else elif fi do done case esac while until for in; do case $(type "$w" 2>&1) in *builtin*|*keyword*) echo "$w";; esac; done`,
	} {
		path, err := exec.LookPath(shell)
		if err != nil {
			continue
		}
		out, err := exec.Command(path, "-c", list).Output()
		if err != nil || len(out) == 0 {
			t.Fatal(err)
		}
		for word := range strings.FieldsSeq(string(out)) {
			if _, ok := Direct(word + " x"); ok {
				t.Errorf("%s has %s, and it would be executed", shell, word)
			}
		}
	}
}
