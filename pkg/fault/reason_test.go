package fault

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"
)

func TestReasonNamesNoPath(t *testing.T) {
	other := errors.New("other")
	for _, c := range []struct{ err, want error }{
		{&os.PathError{Op: "open", Path: "/x", Err: syscall.ENOENT}, syscall.ENOENT},
		{fmt.Errorf("while: %w", &os.LinkError{Op: "rename", Old: "/x", New: "/y", Err: syscall.ENOSPC}), syscall.ENOSPC},
		{other, other},
	} {
		if got := Reason(c.err); got != c.want { //nolint:errorlint // the very error is wanted
			t.Errorf("Reason(%v) = %v", c.err, got)
		}
	}
}
