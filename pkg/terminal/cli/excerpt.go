package cli

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/mattn/go-isatty"
	"golang.org/x/sys/unix"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/terminal/cells"
)

// defaultColumns is the width of a terminal that does not know its own.
const defaultColumns = 80

// columnsOf returns the width of the terminal that a file is, or 0 if it is another file.
func columnsOf(f *os.File) int {
	if f == nil || !isatty.IsTerminal(f.Fd()) {
		return 0
	}
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil || size.Col == 0 {
		return defaultColumns
	}
	return int(size.Col)
}

const (
	margin     = "  | " // before the lines of an excerpt
	minExcerpt = 20     // columns of an excerpt, however narrow the terminal is
)

// WriteExcerpt writes the line of text that a fault is in and, below it, a mark at the place, if the fault has them. On a terminal of
// that many columns the line is cut to what is around the place; columns is 0 for another file.
func WriteExcerpt(w io.Writer, f *fault.Fault, columns int) {
	text, ok := f.Details["text"].(string)
	if !ok {
		return
	}
	mark, _ := f.Details["mark"].(string)
	if columns > 0 {
		text = cells.Expand(cells.Safe(text))
		at := cells.Width(cells.Expand(strings.TrimSuffix(mark, "^")))
		text, at = cells.Around(text, at, max(minExcerpt, columns-len(margin)-1)) // the mark may be behind the last character
		mark = strings.Repeat(" ", at) + "^"
	}
	_, _ = fmt.Fprintf(w, "%s%s\n%s%s\n", margin, text, margin, mark)
}
