package veloflux

import (
	"os"
	"strings"
	"unicode"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// maxFileName is the most bytes that the name of a file has, on any system.
const maxFileName = 255

// checkPath refuses what was given as a file's path and is what should stand in that file. The fault does not repeat it.
func checkPath(what, path string) *fault.Fault {
	if !isContent(path) {
		return nil
	}
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	return fault.New(fault.Usage, "What is given as the %s is no path", what).Suggest("Write the content into a file that only its user can read, and give that file's path")
}

// isContent says whether a text looks like headers, PEM or a credential, and not like a path.
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
