package shell

import (
	"slices"
	"strings"
	"testing"
)

// TestGiven: a template in the node's env or standard input, in none of which the command itself has one.
func TestGiven(t *testing.T) {
	const e, in = "env", "stdin"
	for _, c := range []struct{ by, command, want string }{
		{e, `eval "$P"`, "$P, which holds a template of the node's env, stands in code that is given to eval"},
		{e, `echo $((P))`, "$P, which holds a template of the node's env, stands in arithmetic"},
		{e, `echo $(($P + 1))`, "in arithmetic"},
		{e, `sh -c "$P"`, "in code that is given to sh"},
		{e, `sh -c 'eval "$P"'`, "in code that is given to eval"},
		{e, `x=$P; sh -c "ls $x"`, "$x, which holds"},
		{e, `echo "${P}" | sh`, "reads and runs as code"},
		{e, `[ $P -gt 3 ]`, "unquoted in [ ]"},
		{e, `echo "$P`, "not valid shell syntax"},
		{e, `z=$y; y=$x; x=$P; echo $((z))`, "in arithmetic"},
		{e, `echo "$P" $P; for i in $P; do ls "$i"; done; sh -c 'echo "$P"'; [ "$P" = x ]; [[ -n $P ]]`, ""},
		{in, `sh`, "the node's standard input stands in what sh reads and runs as code"},
		{in, `bash -s a`, "reads and runs as code"},
		{in, `sh -`, "reads and runs as code"},
		{in, `. /dev/stdin`, "reads and runs as code"},
		{in, `sh <&0`, "reads and runs as code"},
		{in, `sh < /dev/stdin`, "reads and runs as code"},
		{in, `exec 3<&0; sh <&3`, "reads and runs as code"},
		{in, `cat /dev/stdin | sh`, "reads and runs as code"},
		{in, `cat | sh`, "reads and runs as code"},
		{in, `cd /x && { cat; } | tr a b | bash`, "reads and runs as code"},
		{in, `x=$(cat); eval "$x"`, "in code that is given to eval"},
		{in, `read -r x; echo $((x))`, "in arithmetic"},
		{in, `while read -r x; do sh -c "$x"; done`, "in code that is given to sh"},
		{in, `xargs sh -c`, "in the input of xargs"},
		{in, `cat > x.sh; sh x.sh`, "which is written and then run"},
		{in, `sh x.sh; sh -c 'cat'; cat x.sh | sh; curl -s x | sh; sh < x; jq . f | sh`, ""},
		{in, `n=$(date +%s); echo $((n / 60)); m=$(cat f); echo $((m)); l=$(wc -l); echo $((l))`, ""},
		{in, `while read -r x; do echo "$x"; done; read -r y; [ "$y" = x ]; python3 x.py; [[ a == b ]]`, ""},
	} {
		o := options
		o.Own = []string{"P"}
		if c.by == e {
			o.Tainted = o.Own
		}
		o.StdinTainted = c.by == in
		s, problems := Parse(c.command, o)
		i := slices.IndexFunc(problems, func(p Problem) bool { return strings.Contains(p.Message, c.want) })
		switch {
		case c.want == "" && (len(problems) > 0 || s.Command != c.command):
			t.Errorf("%s: %s: %+v %q", c.by, c.command, problems, s.Command)
		case c.want != "" && (i < 0 || problems[i].Warning || problems[i].Suggest == "" || strings.Contains(problems[i].Suggest, "${…}") || s.Command != ""):
			t.Errorf("%s: %s: %+v %q, want %q", c.by, c.command, problems, s.Command, c.want)
		}
		o.Unsafe = true
		if _, problems := Parse(c.command, o); len(problems) > 0 {
			t.Errorf("unsafe: %s: %+v", c.command, problems)
		}
	}
	_, problems := Parse("true", Options{Known: options.Known, Own: []string{"BASH_ENV"}, Tainted: []string{"BASH_ENV"}})
	if len(problems) != 1 || problems[0].Warning || !strings.Contains(problems[0].Message, "in the variable BASH_ENV") {
		t.Errorf("%+v", problems)
	}
}
