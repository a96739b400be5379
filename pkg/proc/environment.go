package proc

import (
	"slices"
	"strings"
)

// Environment is an environment in which each name stands once, with its last value: of two, most programs see the first.
// It is never nil, which would stand for this program's own. Names in without are left out.
func Environment(env []string, without ...string) []string {
	seen := make(map[string]bool, len(env))
	out := make([]string, 0, len(env))
	for _, kv := range slices.Backward(env) {
		name, _, _ := strings.Cut(kv, "=")
		if !seen[name] && !slices.Contains(without, name) {
			out = append(out, kv)
		}
		seen[name] = true
	}
	slices.Reverse(out)
	return out
}

// Getenv is the last value of a name in an environment, or empty.
func Getenv(env []string, name string) string {
	value, _ := LookupEnv(env, name)
	return value
}

// LookupEnv is Getenv that tells an empty value from none.
func LookupEnv(env []string, name string) (string, bool) {
	for _, kv := range slices.Backward(env) {
		if k, v, ok := strings.Cut(kv, "="); ok && k == name {
			return v, true
		}
	}
	return "", false
}
