// Package index keeps runs/.index of a home, NDJSON with a line for each run that has ended, so that lists and statistics need
// not open the journals of such runs.
//
// The index is derived from the journals. What is missing in it or damaged is read from the journals again, so it can be deleted
// at any time, and a program that cannot write it does without. A run that has ended does not change any more, so a line stays
// true. The size of the journal in it shows that a journal was replaced.
package index

import (
	"bufio"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// Index is the content of the file at one time.
type Index struct {
	home  *home.Home
	lines map[string]string // by run
	runs  int               // how many runs the home has
	// file is the file that was read, or nil if there was none. read is how far it was read, to the end of a line.
	file os.FileInfo
	read int64
	// unusable is set if there is a file that is not read because no index of the home is as large.
	unusable bool
}

const (
	folder  = "runs"
	name    = ".index"
	newName = ".index.new"
)

// The most bytes of a line, and of a file that is read. A file may be much larger than the lines of the runs that exist, because runs
// were removed.
const (
	maxLine = 8 << 10
	maxFile = 64 << 20
	perRun  = 1 << 10 // more for each run of the home
)

// Read reads the index of a home that has the given number of runs. If there is no index or it cannot be read, it returns an
// empty one.
func Read(h *home.Home, runs int) *Index {
	x := &Index{home: h, lines: make(map[string]string, runs), runs: runs}
	f, err := open(h, os.O_RDONLY)
	if err != nil {
		return x
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err == nil {
		x.readOn(f, info)
	}
	return x
}

// readOn reads the lines that were added to the file since it was read. If it is another file, it is read from its beginning.
func (x *Index) readOn(f *os.File, info os.FileInfo) {
	if x.file == nil || !os.SameFile(x.file, info) {
		x.read, x.unusable = 0, !info.Mode().IsRegular()
		clear(x.lines)
	}
	x.file = info
	if x.unusable = x.unusable || info.Size() > maxFile+perRun*int64(x.runs); x.unusable {
		return
	}
	var text strings.Builder
	text.Grow(int(max(0, info.Size()-x.read)))
	if _, err := io.Copy(&text, io.NewSectionReader(f, x.read, info.Size()-x.read)); err == nil {
		x.read += x.add(text.String())
	}
}

// open opens the file of the index. It does not wait for a writer if that is a pipe, and follows no link.
func open(h *home.Home, flags int) (*os.File, error) {
	return os.OpenFile(h.Path(folder, name), flags|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600)
}

// add adds the whole lines of a text and returns how long they are. Of two about a run, the later one counts.
func (x *Index) add(text string) int64 {
	rest := text
	for {
		end := strings.IndexByte(rest, '\n') + 1
		if end == 0 {
			return int64(len(text) - len(rest))
		}
		if run, ok := runOf(rest[:end]); ok {
			x.lines[run] = rest[:end]
		}
		rest = rest[end:]
	}
}

// Get returns the facts of a run that has ended, or nil if the index does not have them.
func (x *Index) Get(run string) *Facts {
	line, ok := x.lines[run]
	if !ok {
		return nil
	}
	f, ok := parse(line)
	if !ok || f.Run != run {
		return nil
	}
	return f
}

// Damaged returns the number of lines in the file of the index that are not what was written. They are left out and written anew.
func Damaged(h *home.Home) (damaged int) {
	f, err := open(h, os.O_RDONLY)
	if err != nil {
		return 0
	}
	defer func() { _ = f.Close() }()
	for lines := bufio.NewReaderSize(f, maxLine); ; {
		line, err := lines.ReadSlice('\n')
		if len(line) > 0 && err == nil {
			if _, ok := runOf(string(line)); !ok {
				damaged++
			}
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return damaged
		}
	}
}

// Has reports whether the index has a run.
func (x *Index) Has(run string) bool { return x.lines[run] != "" }

// Of returns the runs of the workflow with the given name and source.
func (x *Index) Of(workflow, source string) []*Facts {
	part := `,"workflow":` + string(rawjson.Quote(workflow)) + `,"source":` + string(rawjson.Quote(source)) + `,`
	var found []*Facts
	for run, line := range x.lines {
		if !strings.Contains(line, part) {
			continue
		}
		if f := x.Get(run); f != nil && f.Workflow == workflow && f.Source == source {
			found = append(found, f)
		}
	}
	return found
}

// Gone reports whether the index has a run that does not exist.
func (x *Index) Gone(exists func(run string) bool) bool {
	for run := range x.lines {
		if !exists(run) {
			return true
		}
	}
	return false
}

// A line begins with its version and the checksum of what follows, and then names its run.
const (
	head     = `{"v":2,"crc":"`
	crcChars = 8
	behind   = `",`
	runKey   = `"run":"`
)

// encode returns the line of a run. It returns "" if the name and the path of the workflow are so long that the journal has to be
// read for them.
func (f *Facts) encode() string {
	line := f.shortened().asLine()
	if len(line) > maxLine {
		short := *f
		short.Description, short.Error, short.Inputs, short.CutTexts, short.CutInputs = "", "", nil, true, true
		line = short.asLine()
	}
	if len(line) > maxLine {
		return ""
	}
	return line
}

func (f *Facts) asLine() string {
	raw, err := rawjson.Marshal(f)
	if err != nil {
		return ""
	}
	rest := string(raw[1:]) + "\n"
	return fmt.Sprintf("%s%08x%s%s", head, checksum(rest), behind, rest)
}

// runOf returns the run of a line that is not damaged.
func runOf(line string) (run string, ok bool) {
	rest, ok := strings.CutPrefix(line, head)
	if !ok || len(line) > maxLine || len(rest) < crcChars+len(behind)+len(runKey) {
		return "", false
	}
	sum, err := strconv.ParseUint(rest[:crcChars], 16, 32)
	rest = rest[crcChars:]
	if err != nil || !strings.HasPrefix(rest, behind+runKey) || uint32(sum) != checksum(rest[len(behind):]) {
		return "", false
	}
	run, _, ok = strings.Cut(rest[len(behind)+len(runKey):], `"`)
	return run, ok
}

func checksum(text string) uint32 {
	return crc32.Checksum([]byte(text), crc32.MakeTable(crc32.Castagnoli))
}
