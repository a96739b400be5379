package fault

import (
	"errors"
	"io/fs"
	"os"
)

// Reason returns why an operation on a file failed, without the operation and the paths that package os puts before it. So a
// message can name the file as the user did, or not at all.
func Reason(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	if le, ok := errors.AsType[*os.LinkError](err); ok {
		return le.Err
	}
	return err
}
