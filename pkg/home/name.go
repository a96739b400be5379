package home

import (
	"cmp"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// MaxName is the maximum length in bytes of a workflow's or server's name, MaxType that of a node type's name.
const (
	MaxName = 50
	MaxType = 128
)

// Reserved are the names that a workflow must not have. Elsewhere they are commands, or stand for nothing.
var Reserved = []string{"last", "mcp", "none", "null", "registry", "settings", "skill", "test", "undefined", "workflow"}

// CheckName returns an error unless a name can be that of a "workflow" or a "server", which kind says: it must match
// ^[a-z0-9]+(-[a-z0-9]+)*$, have at most MaxName bytes and, for a workflow, not be reserved. For a name that could be a path
// the error is a security_error. No message contains a path.
func CheckName(kind, name string) error {
	if err := CheckPathless(kind, name); err != nil {
		return err
	}
	switch {
	case name == "":
		return fault.New(fault.Validation, "The %s name must not be empty", kind).Suggest("Use a name such as my-%s", kind)
	case len(name) > MaxName:
		return fault.New(fault.Validation, "The %s name has %d bytes, at most %d are allowed", kind, len(name), MaxName).
			Suggest("Choose a shorter name")
	case !wellFormed(name):
		return fault.New(fault.Validation, "Invalid %s name %q", kind, name).
			Suggest("Use lower-case letters and digits in words joined by single hyphens, such as %s", suggestion(kind, name))
	case kind == "workflow" && slices.Contains(Reserved, name):
		return fault.New(fault.Validation, "The workflow name %q is reserved", name).Suggest("Choose another name, such as my-%s", name)
	}
	return nil
}

// CheckPathless returns a security_error for a name that is a path or could become one. It touches no file.
func CheckPathless(kind, name string) error {
	bad := strings.ContainsAny(name, `/\`) || name == ".." || strings.Contains(name, "..") || filepath.IsAbs(name) ||
		strings.ContainsFunc(name, unicode.IsControl)
	if bad {
		return fault.Known(fault.Security, "SecurityError", "The %s name is not allowed: it must be a plain name, not a path", kind).
			Suggest("Names are lower-case letters and digits in words joined by single hyphens")
	}
	return nil
}

func wellFormed(name string) bool {
	for word := range strings.SplitSeq(name, "-") {
		if word == "" || strings.Trim(word, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
			return false
		}
	}
	return true
}

// CleanName makes a name well-formed: it lower-cases it, replaces other characters by single hyphens and shortens it. It returns
// "" if nothing is left.
func CleanName(name string) string {
	s := strings.Trim(regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(name), "-"), "-")
	if len(s) > MaxName {
		s = strings.Trim(s[:MaxName], "-")
	}
	return s
}

// suggestion returns a well-formed name similar to an invalid one.
func suggestion(kind, name string) string {
	if kind == "workflow" { // it may be that of a file
		name = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(name, ".md"), ".json"), ".pflow")
	}
	s := CleanName(name)
	if s == "" || kind == "workflow" && slices.Contains(Reserved, s) {
		return "my-" + cmp.Or(s, kind)
	}
	return s
}

// IsSHA256 reports whether a file's name is a SHA-256 in lower-case hexadecimal digits, as the suite names files by their content.
func IsSHA256(name string) bool {
	return len(name) == 64 && strings.Trim(name, "0123456789abcdef") == ""
}
