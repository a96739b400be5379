package input

import (
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// maxKey is the most bytes of a key, and of the path to it, that a fault repeats.
const maxKey = 200

// CheckKeys returns a validation_error, with the place, if an object of a JSON text has a key twice. What names the text at the beginning of
// a sentence.
func CheckKeys(what string, text []byte) error {
	path, key, twice := rawjson.DuplicateKey(text)
	if !twice {
		return nil
	}
	f := fault.New(fault.Validation, "%s has the key %q twice in one object", what, fault.Truncate(key, maxKey))
	f.Path = fault.Truncate(rawjson.JoinPath(path, key), maxKey)
	return f.Suggest("Keep one of them: programs differ in which they read")
}
