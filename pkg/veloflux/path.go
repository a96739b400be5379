package veloflux

import (
	"os"
	"strings"
	"unicode"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// maxFileName is the most bytes of a file name on any system.
const maxFileName = 255

// checkPath refuses a path that is not a path but the content of the file that was meant. The fault does not repeat it,
// because it may be a secret.
func checkPath(what, path string) *fault.Fault {
	if !isContent(path) {
		return nil
	}
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	return fault.New(fault.Usage, "The value given as the %s is not a path", what).Suggest("Write the content into a file that only its user can read, and give that file's path")
}

// isContent reports whether a text looks like headers, PEM or a credential rather than a path.
func isContent(text string) bool {
	if strings.ContainsFunc(text, unicode.IsControl) || strings.Contains(text, "-----") {
		return true
	}
	for part := range strings.FieldsFuncSeq(text, isSlash) {
		if len(part) > maxFileName {
			return true
		}
	}
	text = strings.TrimSpace(text)
	if name, _, ok := strings.Cut(text, ":"); ok && len(name) > 1 && isToken(strings.TrimSpace(name)) {
		return true
	}
	scheme, _, ok := strings.Cut(text, " ")
	return ok && (strings.EqualFold(scheme, "bearer") || strings.EqualFold(scheme, "basic") || strings.EqualFold(scheme, "token"))
}
