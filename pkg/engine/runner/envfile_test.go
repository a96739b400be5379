package runner

import (
	"slices"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/fault"
)

func TestEnvFile(t *testing.T) {
	for in, want := range map[string]string{
		"":                                     "",
		"A=1\n":                                "A=1",
		"A=1":                                  "A=1",
		"\n# said\n  # so\nA=1\n\nB=2\r\n":     "A=1|B=2",
		"export A=1\n export  B = 2 \n":        "A=1|B=2",
		"A=a b # said\nB=a#b\nC=#\nD=\n":       "A=a b|B=a#b|C=|D=",
		`A='$x \n "'` + "\n":                   `A=$x \n "`,
		`A="a\nb\t\"\\\$ \x" # said` + "\nB=1": "A=a\nb\t\"\\$ \\x|B=1",
		"A='1\n2' \nB=\"3\n\n4\"\nC=5":         "A=1\n2|B=3\n\n4|C=5",
		"A=x=y\nA=z":                           "A=x=y|A=z",
		"\ufeffA=1":                            "A=1",
		"A= \t1":                               "A=1",
	} {
		got, err := parseEnvFile("f", []byte(in))
		if err != nil || strings.Join(got, "|") != want {
			t.Errorf("%q: %q %v", in, got, err)
		}
	}
	for in, line := range map[string]int{
		"A":            1,
		"A=1\nhush!=2": 2,
		"1A=2":         1,
		"=2":           1,
		"A='1\n\nB=2":  1,
		"\nA='1'2":     2,
		"A=\xff":       0,
		"A=1\x00":      0,
	} {
		got, err := parseEnvFile("f", []byte(in))
		if err == nil {
			t.Errorf("%q: %q", in, got)
			continue
		}
		if f := fault.From(err); f.Type != fault.Usage || f.Line != line || (f.File == "f") != (line > 0) || strings.Contains(f.Message, "hush") {
			t.Errorf("%q: %+v", in, f)
		}
	}
}

func FuzzEnvFile(f *testing.F) {
	for _, seed := range []string{"A=1\n#x\nexport B='2'\n", "A=\"\\n\n\"x", "A = b #c"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		env, err := parseEnvFile("f", []byte(text))
		if err != nil && len(env) > 0 || slices.ContainsFunc(env, func(kv string) bool { return !envName(strings.SplitN(kv, "=", 2)[0]) || strings.ContainsRune(kv, 0) }) {
			t.Errorf("%q: %q %v", text, env, err)
		}
	})
}
