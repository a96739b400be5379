package process

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// Environment is an environment in which each name stands once, with its last value: of two, most programs see the first.
// It is never nil, which would stand for this program's own. Names in without are left out.
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

// Extend is an environment with variables added to it, sorted. The fault is one of a variable that no environment can hold.
func Extend(env []string, own map[string]string) ([]string, *fault.Fault) {
	out := slices.Clip(env)
	for _, name := range slices.Sorted(maps.Keys(own)) {
		value := own[name]
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(value, 0) {
			return nil, fault.New(fault.Execution, "The environment cannot hold the variable %q: its name is empty or has a =, or there is a NUL byte in it", name).
				Suggest(`Correct "env", or hand the value over in another way, such as a file`)
		}
		out = append(out, name+"="+value)
	}
	return out, nil
}

// Path is a path as people write it: ~ is the home of the environment's user, and what is relative is relative to dir.
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

// named says whether a variable has a name.
func named(kv, name string) bool {
	return strings.HasPrefix(kv, name) && (len(kv) == len(name) || kv[len(name)] == '=')
}

// names is a set that may say of a name that it is there when it is not: a map would cost more than starting some
// processes leaves time for.
type names [1 << 10 / 64]uint64

// add puts a name in and says whether it may have been there.
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
