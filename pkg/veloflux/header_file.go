package veloflux

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// maxHeaderFile is the most bytes of a header file. No server accepts more.
const maxHeaderFile = 1 << 20

// headerFile is a file of headers that may be replaced while the program runs.
type headerFile struct {
	path string

	mu      sync.Mutex
	known   bool
	content []byte
	header  http.Header
}

// read returns the headers that the file has now, or those that it had before and an error.
func (f *headerFile) read() (http.Header, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	content, err := f.load()
	if err == nil && !(f.known && bytes.Equal(content, f.content)) {
		var header http.Header
		if header, err = parseHeaderFile(content); err == nil {
			f.known, f.content, f.header = true, content, header
		}
	}
	if err != nil {
		return f.header, fmt.Errorf("The header file %s cannot be used: %w", f.path, err) //nolint:staticcheck // a sentence of its own
	}
	return f.header, nil
}

// load reads the whole file each time, because its time and size can be the same after a change.
func (f *headerFile) load() ([]byte, error) {
	info, err := os.Stat(f.path)
	if err != nil {
		return nil, fault.Reason(err)
	}
	if f.known && !info.Mode().IsRegular() {
		return f.content, nil // a pipe can be read only once
	}
	file, err := os.Open(f.path)
	if err != nil {
		return nil, fault.Reason(err)
	}
	defer func() { _ = file.Close() }()
	content, err := io.ReadAll(io.LimitReader(file, maxHeaderFile+1))
	if err == nil && len(content) > maxHeaderFile {
		err = fmt.Errorf("it has more than %d bytes", maxHeaderFile)
	}
	return content, fault.Reason(err)
}

// parseHeaderFile parses lines "Name: value", skipping blank lines and # comments.
func parseHeaderFile(content []byte) (http.Header, error) {
	found := http.Header{}
	n := 0
	for line := range bytes.Lines(bytes.TrimPrefix(content, []byte("\ufeff"))) {
		n++
		text := strings.Trim(string(line), " \t\r\n")
		if text == "" || text[0] == '#' {
			continue
		}
		name, value, ok := strings.Cut(text, ":")
		if !ok {
			return nil, fmt.Errorf("line %d has no colon", n)
		}
		if err := addHeader(found, name, value); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	return found, nil
}
