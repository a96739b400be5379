package fault

import (
	"errors"
	"io/fs"
	"os"
)

// Reason is why an operation on a file failed, without the operation and the paths that os puts before it: a message
// names the file in the user's own words, or must not name it.
func Reason(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	if le, ok := errors.AsType[*os.LinkError](err); ok {
		return le.Err
	}
	return err
}
