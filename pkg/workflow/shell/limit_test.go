package shell

import (
	"strings"
	"testing"
)

func TestAccepts(t *testing.T) {
	s, _ := Parse(`echo "${v}" $((${node.n}))`, options)
	text, integer := s.Vars[0], s.Vars[1]
	for value, ok := range map[string]bool{
		"": true, "a\nb": true, "\xff": true, "\x00": false, "a\x00b": false, strings.Repeat("x", MaxVariable-len("PFLOW_T1=")): true, strings.Repeat("x", MaxVariable-len("PFLOW_T1=")+1): false,
	} {
		f := text.Accepts(value)
		if f == nil != ok || f != nil && (!strings.Contains(f.Message, "${v}") || !strings.Contains(f.Suggestions[0], `"stdin": "${v}"`)) {
			t.Errorf("%s: %+v", shown(value), f)
		}
	}
	for value, ok := range map[string]bool{
		"0": true, "5": true, "-5": true, "+5": true, "1234567890": true, "9223372036854775807": true, "-9223372036854775808": true,
		"": false, "5\n": false, "08": false, "010": false, "-01": false, "00": false, "0x10": false, "1e3": false, "1.0": false, "--5": false, "+-5": false, "-": false, "9223372036854775808": false,
		"1_000": false, "a": false, "a[$(id)]": false, "5;id": false, "١": false, "5\x00": false, "RANDOM": false,
	} {
		f := integer.Accepts(value)
		if f == nil != ok || f != nil && !strings.Contains(f.Message, "${node.n}") {
			t.Errorf("%q: %+v", value, f)
		}
		if f != nil && len(value) > 3 && strings.Contains(f.Message, value) {
			t.Errorf("%q is told: a value may be secret", value)
		}
	}
	o := options
	o.Unsafe = true
	s, _ = Parse(`echo $((${v}))`, o)
	if s.Vars[0].Accepts("a[1]") != nil || s.Vars[0].Accepts("\x00") == nil {
		t.Error("an unsafe script takes what a command can hold")
	}
}

func TestFits(t *testing.T) {
	s, _ := Parse(`echo "${v}" "${w}"`, options)
	half := strings.Repeat("x", 100_000)
	command, env := s.Render([]string{"small", half})
	if f := s.Fits([]string{"sh", "-c", command}, env); f != nil {
		t.Error(f)
	}
	for range 22 {
		env = append(env, "X="+half[:99_000])
	}
	if f := s.Fits([]string{"sh", "-c", command}, env); f == nil || !strings.Contains(f.Message, "at most 2097152") || !strings.Contains(f.Suggestions[0], `"stdin": "${w}"`) {
		t.Errorf("got %+v", f)
	}
	many := make([]string, 250_000)
	if f := s.Fits(many, nil); f == nil || !strings.Contains(f.Suggestions[0], "stdin") {
		t.Errorf("got %+v", f)
	}
	if f := s.Fits([]string{"sh", "-c", strings.Repeat("x", MaxVariable+1)}, nil); f == nil || !strings.Contains(f.Message, "at most 131071") {
		t.Errorf("got %+v", f)
	}
}

// TestLargeCommands: what no shell could be given is an error, and what is hostile takes little time.
func TestLargeCommands(t *testing.T) {
	for command, want := range map[string]Kind{
		strings.Repeat("echo ${v};", 20_000):                                              TooLarge,
		strings.Repeat("$(", 5_000) + "${v}" + strings.Repeat(")", 5_000):                 TooLarge,
		"${v} $((" + strings.Repeat("(", 100_000):                                         TooLarge,
		"sh <<'E'\n" + strings.Repeat("{[()]}", 10_000) + "\nE\necho \"${v}\"":            "",
		"x0=${v};" + strings.Repeat("a=$b; b=$a;", 5_000) + "b=$x0; : " + "$a":            "",
		"x=$(" + strings.Repeat("echo \"${v}\" | ", 5_000) + "wc -l); echo $((x))":        Arithmetic,
		"f() { g; g; }; " + strings.Repeat("g() { f; f; }; ", 3_000) + "f \"${v}\"":       "",
		strings.Repeat("eval 'eval x'; ", 5_000) + "echo \"${v}\"":                        "",
		strings.Repeat("$(", 900) + "echo \"${v}\"" + strings.Repeat(" | cat)", 900):      "",
		strings.Repeat("${x:-", 900) + "${v}" + strings.Repeat("}", 900):                  "",
		"echo " + strings.Repeat("$((", 300) + "${v}" + strings.Repeat("))", 300):         "",
		"tar " + strings.Repeat("sh -x ", 15_000) + "${v}":                                Option,
		"git " + strings.Repeat("\"${v}\" ", 15_000):                                      Option,
		"echo " + strings.Repeat("'${v}'", 10_000) + "; " + strings.Repeat("#${w}\n", 20): "",
		strings.Repeat("f() { set -- a; echo \"$1\"; }; ", 3_000) + "echo \"${v}\"":       "",
	} {
		_, problems := Parse(command, options)
		if want == "" && len(problems) > 0 || want != "" && (len(problems) == 0 || problems[0].Kind != want) {
			t.Errorf("%s: %.3v, want %q", shown(command), problems, want)
		}
	}
}
