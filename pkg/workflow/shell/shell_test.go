package shell

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// options are those of the tables here: v, w and node are known.
var options = Options{Known: func(root string) bool { return slices.Contains([]string{"v", "w", "node", "my-node"}, root) }, Own: []string{"OWN"}}

func TestRendering(t *testing.T) {
	for command, want := range map[string]string{
		// no templates
		`echo $${v} $v`:                          `echo ${v} $v`,
		`x=1; echo ${x}`:                         `x=1; echo ${x}`,
		`for i in a b; do echo ${i}; done`:       `for i in a b; do echo ${i}; done`,
		`read -r l; echo ${l}`:                   `read -r l; echo ${l}`,
		`echo ${HOME:-x} ${1} ${#} ${x%y}`:       `echo ${HOME:-x} ${1} ${#} ${x%y}`,
		`echo ${OWN}`:                            `echo ${OWN}`,
		`a=(1 2); echo ${a[0]} <<<x`:             `a=(1 2); echo ${a[0]} <<<x`,
		`sh -c 'for i in a; do echo ${i}; done'`: `sh -c 'for i in a; do echo ${i}; done'`,
		"sh <<'E'\ni=1; echo ${i}\nE":            "sh <<'E'\ni=1; echo ${i}\nE",
		`i=1 # not ${j}`:                         `i=1 # not ${j}`,
		// bare, and in double quotes
		`echo "${v}"`:                      `echo "${PFLOW_T1}"`,
		`echo ${v}${node.stdout}`:          `echo ${PFLOW_T1}${PFLOW_T2}`,
		`echo ${node.a[0]["k"] ?? w ?? 1}`: `echo ${PFLOW_T1}`,
		`echo ${my-node}`:                  `echo ${PFLOW_T1}`,
		`cat >${v} <"${w}" 2>>${v}`:        `cat >${PFLOW_T1} <"${PFLOW_T2}" 2>>${PFLOW_T3}`,
		`x=${v} y="${v}"z cmd`:             `x=${PFLOW_T1} y="${PFLOW_T2}"z cmd`,
		`case ${v} in "${w}") ;; esac`:     `case ${PFLOW_T1} in "${PFLOW_T2}") ;; esac`,
		`echo "${y:-${v}}" ${y:=${v}}`:     `echo "${y:-${PFLOW_T1}}" ${y:=${PFLOW_T2}}`,
		"echo `echo ${v}` $(echo ${v})":    "echo `echo ${PFLOW_T1}` $(echo ${PFLOW_T2})",
		"cat <<E\n${v}\nE":                 "cat <<E\n${PFLOW_T1}\nE",
		`PFLOW_T1=x; echo "${v}"`:          `PFLOW_T1=x; echo "${PFLOW_T2}"`,
		// in single quotes
		`echo '${v}' 'a ${v} b'`: `echo ''"${PFLOW_T1}"'' 'a '"${PFLOW_T2}"' b'`,
		`echo "${y:-'${v}'}"`:    `echo "${y:-'${PFLOW_T1}'}"`,
		`echo ${y:-'${v}'}`:      `echo ${y:-''"${PFLOW_T1}"''}`,
		`echo "${y#'${v}'}"`:     `echo "${y#''"${PFLOW_T1}"''}"`,
		// commands' names and assignments that are arguments
		`${v} -x`:                    `"${PFLOW_T1}" -x`,
		`A=1 ./${v}/x ${w}`:          `A=1 ./"${PFLOW_T1}"/x ${PFLOW_T2}`,
		`exec ${v}; command -p ${v}`: `exec "${PFLOW_T1}"; command -p "${PFLOW_T2}"`,
		`$(${v}) ${y:-${v}}`:         `$("${PFLOW_T1}") ${y:-${PFLOW_T2}}`,
		`${y:-${v}} a`:               `${y:-"${PFLOW_T1}"} a`,
		`${v}=1`:                     `"${PFLOW_T1}"=1`,
		`export x=${v} y="${w}"`:     `export x="${PFLOW_T1}" y="${PFLOW_T2}"`,
		`f() { local x=${v}; }; f`:   `f() { local x="${PFLOW_T1}"; }; f`,
		// quoted here-documents
		"cat <<'E'\n${v}$x`y`\\\n\\\\\nE\necho": "cat <<E\n${PFLOW_T1}\\$x\\`y\\`\\\\\n\\\\\\\\\nE\necho",
		"cat <<-\\E | x\n\t${v}\n\tE":           "cat <<-E | x\n\t${PFLOW_T1}\n\tE",
		"cat <<'A B' <<\"$\"\n${v}\nA B\n$":     "cat <<EOF0 <<\"$\"\n${PFLOW_T1}\nEOF0\n$",
		"cat <<''\nEOF0\n${v}\n\necho":          "cat <<EOF1\nEOF0\n${PFLOW_T1}\nEOF1\necho",
		"x=$(cat <<'E'\n'${v}'\nE\n)":           "x=$(cat <<E\n'${PFLOW_T1}'\nE\n)",
		// in a comment
		"echo ${v} # ${w} isn't\necho ${v}": "echo ${PFLOW_T1} # ${PFLOW_T2} isn't\necho ${PFLOW_T3}",
		"cat <<<x # ${v}":                   "cat <<<x # ${PFLOW_T1}",
		"echo `echo a # ${v}` ${v}":         "echo `echo a # ${PFLOW_T1}` ${PFLOW_T2}",
		// arithmetic
		`echo $((${v} + 1))`: `echo $((${PFLOW_T1} + 1))`,
		// after a backslash
		`echo "\${v} \${node.a} ${w}"`:               `echo "\${v} \${node.a} ${PFLOW_T3}"`,
		"cat <<E\n\\${v}\nE\necho '\\${w}' \\\\${w}": "cat <<E\n\\${v}\nE\necho '\\'\"${PFLOW_T2}\"'' \\\\${PFLOW_T3}",
		// for bash
		`echo $'a\'\t${v}\n'`:      `echo $'a\'\t'"${PFLOW_T1}"$'\n'`,
		`[[ ${v} == "${w}"* ]]`:    `[[ ${PFLOW_T1} == "${PFLOW_T2}"* ]]`,
		`a=(${v} '${w}'); a+=${v}`: `a=(${PFLOW_T1} ''"${PFLOW_T2}"''); a+=${PFLOW_T3}`,
	} {
		s, problems := Parse(command, options)
		if i := slices.IndexFunc(problems, func(p Problem) bool { return !p.Warning }); i >= 0 || s.Command != want {
			t.Errorf("%s: %s %v, want %s", command, s.Command, problems, want)
		}
		for _, v := range s.Vars {
			if !strings.Contains(s.Command, "${"+v.Name+"}") || v.Expr.String() == "" {
				t.Errorf("%s: %s has no %s", command, s.Command, v.Name)
			}
		}
	}
}

func TestVarsAndRender(t *testing.T) {
	s, _ := Parse("echo '${v}' # ${node.x}\necho ${node.a ?? w} $((${w})) $${v}", options)
	var got []string
	for _, v := range s.Vars {
		got = append(got, fmt.Sprint(v.Name, " ", v.Expr, " ", v.Integer))
	}
	if want := "PFLOW_T1 ${v} false PFLOW_T3 ${node.a ?? w} false PFLOW_T4 ${w} true"; strings.Join(got, " ") != want {
		t.Errorf("got %s", got)
	}
	command, variables := s.Render([]string{"it's", "", "5"})
	if command != s.Command || strings.Join(variables, " ") != "PFLOW_T1=it's PFLOW_T3= PFLOW_T4=5" {
		t.Errorf("got %s %s", command, variables)
	}
}

func TestUnsafePastes(t *testing.T) {
	o := options
	o.Unsafe = true
	s, problems := Parse("${v} '${w}' $${v} ${OWN} # ${v}", o)
	command, variables := s.Render([]string{"echo $(id);", "b' 'c", "d\n}"})
	if len(problems) > 0 || command != "echo $(id); 'b' 'c' ${v} ${OWN} # d\n}" || len(variables) > 0 || s.Vars[0].Name != "" {
		t.Errorf("%q %q %v %+v", command, variables, problems, s.Vars)
	}
	for command, faults := range map[string]int{
		`eval "${v}"; [[ ${v} -eq 1 ]]; x=(${v}); echo "'${v}`: 0, // as its author wants it
		`${v} ${nope}`: 1, `echo ${nope.x}`: 1, `v=1; echo ${v}`: 1, `echo " ${nope}`: 1, `x=1; echo " ${x}`: 0, `echo "`: 0,
	} {
		if _, problems := Parse(command, o); len(problems) != faults {
			t.Errorf("%s: %v", command, problems)
		}
	}
	if s, _ := Parse("echo $${v}", o); s.Command != "echo ${v}" {
		t.Errorf("without templates: %s", s.Command)
	}
}

func TestNames(t *testing.T) {
	for command, want := range map[string]struct {
		kind    Kind
		suggest string
	}{
		`echo ${nope}`:                  {Undefined, "$nope, or $${nope}"},
		`echo ${nope.stdout}`:           {Undefined, "$${nope.stdout}"},
		`echo ${nope ?? v}`:             {Undefined, "$${nope ?? v}"},
		`echo ${nope[0]}`:               {Undefined, "$${nope[0]}"},
		`echo ${no-pe}`:                 {Undefined, "$${no-pe}"},
		`echo "${v} ${nope.a}"`:         {Undefined, "$${nope.a}"},
		`v=1; echo ${v}`:                {Ambiguous, "$v;"},
		`read -r w; echo "${w}"`:        {Ambiguous, "$w;"},
		`echo ${v:-x}`:                  {Ambiguous, "${v ?? \"x\"}"},
		`echo ${my-node:-"a b"}`:        {Ambiguous, "${my-node ?? \"a b\"}"},
		`echo ${v-x}`:                   {Ambiguous, "${v ?? \"x\"}"},
		`echo ${v%.txt}`:                {Ambiguous, "x=${v}; … ${x%.txt}"},
		`echo ${#v}`:                    {Ambiguous, "x=${v}; … ${#x}"},
		`a=(1); echo ${a[${v}]}`:        {Arithmetic, "i=$((${v}))"},
		"cat <<E\n${nope}\nE":           {Undefined, "$nope"},
		`python3 -c 'print("${nope}")'`: {Undefined, "$${nope}"},
	} {
		_, problems := Parse(command, options)
		if len(problems) != 1 || problems[0].Warning || problems[0].Kind != want.kind || !strings.Contains(problems[0].Suggest, want.suggest) {
			t.Errorf("%s: %+v, want %v", command, problems, want)
		}
	}
	for _, command := range []string{ // the shell's own
		`: ${x:=1}; echo ${x}`, `export x; echo ${x}`, `getopts ab: o; echo ${o} ${OPTARG}`, `printf -v x a; echo ${x}`, `mapfile m; echo ${m[0]} ${m[1]}`, `declare -a x; echo ${x[0]}`,
		`x=1 y; echo ${x}`, `echo $((x = 1)); echo ${x}`, `((x++)); echo ${x}`, `exec {fd}>f; echo ${fd}`, `select s in a; do echo ${s}; done`, `command read x; echo ${x}`, `export "x=1"; echo ${x}`,
		`while IFS= read -r -p "?" line; do echo "${line}"; done`, `v=1; echo ${v:-x} ${v%y}`, `echo ${x:-${y:-z}}`, `echo ${OWN-x}`, `read; echo ${REPLY}`, `let x=1; echo ${x}`,
	} {
		if _, problems := Parse(command, options); len(problems) > 0 {
			t.Errorf("%s: %+v", command, problems)
		}
	}
}

func TestNameAndOffset(t *testing.T) {
	_, problems := Parse("echo $${x} 'é' ${nope} ${v} \\${w}", options)
	var got []string
	for _, p := range problems {
		got = append(got, fmt.Sprint(p.Name, " ", p.Offset, " ", p.Warning))
	}
	if want := "nope 16 false  24 true  30 true"; strings.Join(got, " ") != want {
		t.Errorf("got %s, want %s: %v", got, want, problems)
	}
	_, problems = Parse("echo ${node.a.long.one} $${x}\n'", options)
	if len(problems) != 1 || problems[0].Kind != Syntax || problems[0].Offset != 30 || !strings.Contains(problems[0].Message, "line 2, column 1: ") {
		t.Errorf("got %+v", problems)
	}
}
