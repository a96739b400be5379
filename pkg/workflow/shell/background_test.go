package shell

import (
	"slices"
	"testing"
)

func TestProcessesThatAreLeftBehind(t *testing.T) {
	for command, left := range map[string]bool{
		"server &":                        true,
		"nohup server > log 2>&1 &":       true,
		"(server &); echo started":        true,
		"if true; then server & fi":       true,
		"setsid server":                   true,
		"setsid server --port ${v}":       true,
		"setsid -w server":                false,
		"setsid --wait server":            false,
		"server & wait":                   false,
		"server & p=$!; use; kill \"$p\"": false,
		"nohup server":                    false,
		"echo a && echo '&'":              false,
	} {
		_, problems := Parse(command, Options{Known: func(root string) bool { return root == "v" }})
		if got := slices.ContainsFunc(problems, func(p Problem) bool { return p.Kind == LeftBehind }); got != left {
			t.Errorf("%s: %t, want %t: %v", command, got, left, problems)
		}
	}
}

// A command without a template is parsed as one with a template is.
func TestCommandsThatNoShellCanParse(t *testing.T) {
	for _, command := range []string{"if true; then echo", `echo "abc`, "echo )", "echo ${{ inputs.x }}"} {
		if _, problems := Parse(command, Options{Known: func(string) bool { return false }}); !slices.ContainsFunc(problems, func(p Problem) bool { return p.Kind == Syntax && !p.Warning }) {
			t.Errorf("%s: %v", command, problems)
		}
		if _, problems := Parse(command, Options{Known: func(string) bool { return false }, Unsafe: true}); slices.ContainsFunc(problems, func(p Problem) bool { return !p.Warning }) {
			t.Errorf("unsafe %s: %v", command, problems)
		}
	}
}
