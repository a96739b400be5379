package shell

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/template"
)

// values are what a template may hold: each must arrive as it is, and none may run.
var values = []string{
	"plain", "two words", "", "'", `"`, `\`, "`touch pwned`", "$(touch pwned)", "; touch pwned", "&& touch pwned", "| touch pwned",
	"\ntouch pwned\n", "*", "-n", "$HOME", "${HOME}", "a'b\"c\\d`e$f", "EOF", "EOF\ntouch pwned", "a[$(touch pwned)]", "!x", "~", "#x",
	"<x", ">pwned", "\t", "ünï", "' ; touch pwned ; '", `" ; touch pwned ; "`,
}

// verbatim are commands in which ${v} stands between < and > exactly as its value.
var verbatim = []string{
	`printf '<%s>' "${v}"`,
	`printf '<%s>' "x${v}y" | sed 's/<x/</; 1,$ s/y>$/>/'`,
	`printf '<%s>' '${v}'`,
	"cat <<EOF\n<${v}>\nEOF",
	"cat <<'EOF'\n<${v}>\nEOF",
	`x=${v}; printf '<%s>' "$x"`,
	`x="${v}"; printf '<%s>' "$x"`,
	`printf '<%s>' "$(printf '%s' "${v}"; printf .)" | sed '$ s/[.]>$/>/'`,
	`printf '<%s>' "${unset_one:-${v}}"`,
	`case "${v}" in *) printf '<%s>' "${v}";; esac`,
	`f() { printf '<%s>' "$1"; }; f "${v}"`,
	`printf '<%s>' "${v}" # a remark`,
}

func TestAValueArrivesAndNeverRuns(t *testing.T) {
	for _, shell := range []string{"dash", "bash"} {
		path, err := exec.LookPath(shell)
		if err != nil {
			t.Logf("%s is not here", shell)
			continue
		}
		for _, command := range verbatim {
			script, problems := Parse(command, func(root string) bool { return root == "v" }, nil)
			if len(problems) > 0 {
				t.Fatalf("%q: %v", command, problems)
			}
			for _, value := range values {
				dir := t.TempDir()
				got := run(t, path, dir, script, value)
				if !strings.Contains(got, "<"+value+">") {
					t.Errorf("%s: %q with %q became %q and gave %q", shell, command, value, script.Command, got)
				}
				if entries, _ := os.ReadDir(dir); len(entries) > 0 {
					t.Errorf("%s: %q with %q ran", shell, command, value)
				}
			}
		}
	}
}

func run(t *testing.T, shell, dir string, s *Script, value string) string {
	t.Helper()
	cmd := exec.CommandContext(context.Background(), shell, "-c", s.Command)
	cmd.Dir, cmd.Env = dir, []string{"PATH=/usr/bin:/bin", "HOME=/nowhere"}
	for _, v := range s.Vars {
		cmd.Env = append(cmd.Env, v.Name+"="+value)
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		t.Errorf("%q with %q: %v: %s", s.Command, value, err, &out)
	}
	return out.String()
}

func TestPlaces(t *testing.T) {
	known := func(root string) bool { return root == "v" || root == "node" }
	for command, want := range map[string]string{
		`echo ${v}`:                        `echo ${PFLOW_T1}`,
		`${v} -x`:                          `"${PFLOW_T1}" -x`,
		`echo '${v}'`:                      `echo ''"${PFLOW_T1}"''`,
		`echo $${v} $v`:                    `echo ${v} $v`,
		`echo ${v}${node.stdout}`:          `echo ${PFLOW_T1}${PFLOW_T2}`,
		`x=1; echo ${x}`:                   `x=1; echo ${x}`,
		`for i in a b; do echo ${i}; done`: `for i in a b; do echo ${i}; done`,
		`read -r l; echo ${l}`:             `read -r l; echo ${l}`,
		`echo ${HOME:-x}`:                  `echo ${HOME:-x}`,
		`echo ${SET}`:                      `echo ${SET}`,
		`sh -c 'echo "$1"' sh "${v}"`:      `sh -c 'echo "$1"' sh "${PFLOW_T1}"`,
	} {
		s, problems := Parse(command, known, []string{"SET"})
		if len(problems) > 0 || s.Command != want {
			t.Errorf("%s: %s %v, want %s", command, s.Command, problems, want)
		}
	}
}

func TestProblems(t *testing.T) {
	for command, want := range map[string]string{
		`echo $((${v} + 1))`:            "in arithmetic",
		`(( ${v} > 1 ))`:                "in arithmetic",
		`[[ ${v} -eq 1 ]] && echo`:      "numeric comparison",
		`echo ${a[${v}]}`:               "subscript",
		`sh -c "echo ${v}"`:             "another shell",
		`/bin/bash -ec '${v}'`:          "another shell",
		`eval "${v}"`:                   "another shell",
		`command eval "${v}"`:           "another shell",
		`timeout 5 sh -c "x ${v}"`:      "another shell",
		`env A=1 bash -xc "${v}"`:       "another shell",
		`find . -exec sh -c "${v}" ';'`: "another shell",
		`su root -c "${v}"`:             "another shell",
		"sh <<EOF\necho ${v}\nEOF":      "another shell",
		`echo \${v}`:                    "would not read it",
		`echo $'${v}'`:                  "in $'…'",
		`echo ${nope}`:                  "no input and no node",
		`echo ${nope.stdout}`:           "no input and no node",
		`echo "${v}`:                    "no shell syntax",
	} {
		_, problems := Parse(command, func(root string) bool { return root == "v" }, nil)
		if len(problems) != 1 || !strings.Contains(problems[0].Message, want) || problems[0].Suggest == "" {
			t.Errorf("%s: %+v, want %q", command, problems, want)
		}
	}
}

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

func FuzzParseCommand(f *testing.F) {
	for _, c := range verbatim {
		f.Add(c)
	}
	f.Fuzz(func(t *testing.T, command string) {
		s, problems := Parse(command, func(root string) bool { return root == "v" }, nil)
		if len(problems) == 0 && s == nil {
			t.Error("neither a script nor a problem")
		}
		_ = template.Parse(command)
	})
}
