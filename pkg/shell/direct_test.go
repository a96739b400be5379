package shell

import (
	"strings"
	"testing"
)

func TestDirect(t *testing.T) {
	for command, want := range map[string]string{
		"/bin/true": "/bin/true", "git log --oneline -5": "git|log|--oneline|-5", "  make  -j2 ": "make|-j2", "env A=b x": "env|A=b|x",
		"true": "", "echo hi": "", "A=b make": "", "./a=b": "", "ls *": "", "ls ~": "", "a; b": "", "a 'b'": "", "a\nb": "", "": "", " ": "", "cd /": "", "a#b": "", "a $b": "", "a {b,c}": "",
	} {
		words, ok := Direct(command)
		if got := strings.Join(words, "|"); ok != (want != "") || ok && got != want {
			t.Errorf("Direct(%q) = %q %v, want %q", command, got, ok, want)
		}
	}
}
