package input

import (
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// maxKey is the most bytes of a key, and of the path to it, that a message repeats.
const maxKey = 200

// CheckKeys returns a usage_error if an object of a JSON text has a key twice. What names the text at the beginning of a sentence.
func CheckKeys(what string, text []byte) error {
	path, key, twice := rawjson.DuplicateKey(text)
	if !twice {
		return nil
	}
	if path != "" {
		path = ", at " + fault.Truncate(path, maxKey)
	}
	return fault.New(fault.Usage, "%s has the key %q twice in one object%s", what, fault.Truncate(key, maxKey), path).
		Suggest("Keep one of them: programs differ in which they read")
}
