package veloflux

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"sync"
)

// maxHeaderFile is the most bytes of a header file. No server takes more.
const maxHeaderFile = 1 << 20

// headerFile is a file of headers that may be replaced while it is in use.
type headerFile struct {
	path string

	mu      sync.Mutex
	known   bool
	content []byte
	header  http.Header
}

// read gives what the file has now. With an error it is what the file had before.
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

// load reads the file. The whole of it, as it is short: its time and size can be the same after a change.
func (f *headerFile) load() ([]byte, error) {
	info, err := os.Stat(f.path)
	if err != nil {
		return nil, withoutPath(err)
	}
	if f.known && !info.Mode().IsRegular() {
		return f.content, nil // a pipe gives what it has once
	}
	file, err := os.Open(f.path)
	if err != nil {
		return nil, withoutPath(err)
	}
	defer func() { _ = file.Close() }()
	content, err := io.ReadAll(io.LimitReader(file, maxHeaderFile+1))
	if err == nil && len(content) > maxHeaderFile {
		err = fmt.Errorf("it has more than %d bytes", maxHeaderFile)
	}
	return content, withoutPath(err)
}

// withoutPath is what is wrong with a file, without its name.
func withoutPath(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}
