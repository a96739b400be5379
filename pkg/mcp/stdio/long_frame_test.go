//go:build !race

package stdio

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFrameOfTheGreatestLength(t *testing.T) {
	f := newFrames(io.MultiReader(
		strings.NewReader(fmt.Sprintf("Content-Length: %d\n\n", maxMessage+1)), io.LimitReader(blanks{}, maxMessage+1),
		strings.NewReader(fmt.Sprintf("Content-Length: %d\n\n", maxMessage)), io.LimitReader(blanks{}, maxMessage-10), strings.NewReader(last),
		strings.NewReader(pingFrame)))
	if diff := cmp.Diff([]string{"!" + tooLong, last, "{}"}, readAll(t, f, 10)); diff != "" {
		t.Error(diff)
	}
	if cap(f.in.data) > 2*maxKept {
		t.Errorf("it keeps room for %d bytes", cap(f.in.data))
	}
}
