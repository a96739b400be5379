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

// MaxName and MaxType are the most bytes a workflow's or server's name and a node type's name may have.
const (
	MaxName = 50
	MaxType = 128
)

// Reserved are the words that no workflow may be called: they are commands, or mean nothing, elsewhere.
var Reserved = []string{"last", "mcp", "none", "null", "registry", "settings", "skill", "test", "undefined", "workflow"}

// CheckName says whether a name may be a workflow's ("workflow") or a server's ("server"): ^[a-z0-9]+(-[a-z0-9]+)*$, at
// most 50 bytes and, for a workflow, not reserved. A name that could leave its folder is a security_error; no message
// repeats a path.
func CheckName(kind, name string) error {
	if err := CheckPathless(kind, name); err != nil {
		return err
	}
	switch {
	case name == "":
		return fault.New(fault.Validation, "The %s name is empty", kind).Suggest("Give one, such as my-%s", kind)
	case len(name) > MaxName:
		return fault.New(fault.Validation, "The %s name is %d bytes long, at most %d are allowed", kind, len(name), MaxName).
			Suggest("Choose a shorter one")
	case !wellFormed(name):
		return fault.New(fault.Validation, "Invalid %s name %q", kind, name).
			Suggest("Use lower-case letters and digits in words joined by single hyphens, such as %s", suggestion(kind, name))
	case kind == "workflow" && slices.Contains(Reserved, name):
		return fault.New(fault.Validation, "The workflow name %q is reserved", name).Suggest("Choose another, such as my-%s", name)
	}
	return nil
}

// CheckPathless refuses a name that is, or could become, a path: a security_error before any file is touched.
func CheckPathless(kind, name string) error {
	bad := strings.ContainsAny(name, `/\`) || name == ".." || strings.Contains(name, "..") || filepath.IsAbs(name) ||
		strings.ContainsFunc(name, unicode.IsControl)
	if bad {
		return fault.New(fault.Security, "SecurityError: the %s name is not allowed: it must be a plain name, not a path", kind).
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

// CleanName makes a name well-formed where that can be done: lowered, other characters made single hyphens, cut.
func CleanName(name string) string {
	s := strings.Trim(regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(name), "-"), "-")
	if len(s) > MaxName {
		s = strings.Trim(s[:MaxName], "-")
	}
	return s
}

// suggestion is a well-formed name near to one that is not.
func suggestion(kind, name string) string {
	s := CleanName(name)
	if s == "" || kind == "workflow" && slices.Contains(Reserved, s) {
		return "my-" + cmp.Or(s, kind)
	}
	return s
}
