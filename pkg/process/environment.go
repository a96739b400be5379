package process

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// Environment returns env with each name once, with its last value: of two entries most programs see the first. Names in
// without are left out. The result is never nil, which os/exec takes for this program's own environment.
func Environment(env []string, without ...string) []string {
	var seen names
	out := make([]string, 0, len(env)+1)
	for i, kv := range slices.Backward(env) {
		name, _, _ := strings.Cut(kv, "=")
		if seen.add(name) && slices.ContainsFunc(env[i+1:], func(later string) bool { return named(later, name) }) {
			continue
		}
		if !slices.Contains(without, name) {
			out = append(out, kv)
		}
	}
	slices.Reverse(out)
	return out
}

// Extend returns env with the variables appended, sorted by name. It returns a fault if an environment cannot hold a
// variable: its name is empty or contains =, or there is a NUL byte.
func Extend(env []string, own map[string]string) ([]string, *fault.Fault) {
	out := slices.Clip(env)
	for _, name := range slices.Sorted(maps.Keys(own)) {
		value := own[name]
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(value, 0) {
			return nil, fault.New(fault.Execution, "The environment cannot hold the variable %q: its name is empty or contains =, or it contains a NUL byte", name).
				Suggest(`Correct "env", or pass the value in another way, such as a file`)
		}
		out = append(out, name+"="+value)
	}
	return out, nil
}

// Path returns the absolute form of a path as people write it: a leading ~ is the HOME of env, and a relative path is
// relative to dir.
func Path(path, dir string, env []string) string {
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || rest[0] == '/') {
		if home := Getenv(env, "HOME"); home != "" {
			path = home + rest
		}
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	return path
}

// named reports whether an entry, NAME=VALUE, has the given name.
func named(kv, name string) bool {
	return strings.HasPrefix(kv, name) && (len(kv) == len(name) || kv[len(name)] == '=')
}

// names is a Bloom filter of names: it may report a name as present that is not. A map would take a considerable part of the
// time that starting a short process takes.
type names [1 << 10 / 64]uint64

// add inserts a name and reports whether it may have been present.
func (s *names) add(name string) (perhaps bool) {
	h := uint64(14695981039346656037) // FNV-1a
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * 1099511628211
	}
	word, bit := h>>54>>6, uint64(1)<<(h>>54&63)
	perhaps = s[word]&bit != 0
	s[word] |= bit
	return perhaps
}

// Getenv returns the last value of a name in an environment, or "".
func Getenv(env []string, name string) string {
	value, _ := LookupEnv(env, name)
	return value
}

// LookupEnv returns the last value of a name in an environment; ok is false if the name is missing.
func LookupEnv(env []string, name string) (value string, ok bool) {
	for _, kv := range slices.Backward(env) {
		if k, v, ok := strings.Cut(kv, "="); ok && k == name {
			return v, true
		}
	}
	return "", false
}
