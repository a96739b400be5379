package registry

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/home/input"
	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// leastIndexed is the size in bytes from which on a registry has an index beside it. A smaller one is read as fast.
const leastIndexed = 256 << 10

// snapshot is one state of registry.json.
type snapshot struct {
	*index
	stamp home.Stamp
	// source is the whole file. It is nil if the index was stored: then entries are read from file.
	source []byte
	file   *os.File
	// home has the configuration of the servers, by which the tools of entries without mcp_metadata are known.
	home *home.Home
}

// read calls use with a snapshot, and once more with one of the whole file if the file changed meanwhile.
func (r *Registry) read(use func(*snapshot) error) error {
	s, err := r.look()
	if err != nil {
		return err
	}
	err = use(s)
	if s.file == nil {
		return err
	}
	after, statErr := home.StampOf(s.file)
	_ = s.file.Close()
	if statErr == nil && after == s.stamp {
		return err
	}
	r.forget()
	if s, err = r.open(true); err != nil {
		return err
	}
	return use(s)
}

// look returns a snapshot. What was read before serves as long as the file is the same.
func (r *Registry) look() (*snapshot, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last != nil && r.last.source != nil {
		return r.last, nil
	}
	s, err := r.open(false)
	if err == nil {
		kept := *s
		kept.file = nil
		r.last = &kept
	}
	return s, err
}

// forget drops what was read before.
func (r *Registry) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last = nil
}

// open takes a snapshot: of a large registry through its index, if that is up to date and whole is false, else by reading
// the file. An index is stored only if no later change can go unseen; a home that cannot be written does without.
func (r *Registry) open(whole bool) (*snapshot, error) {
	if info, err := os.Stat(r.home.Path(fileName)); err == nil && !info.Mode().IsRegular() {
		return r.openSpecial()
	}
	f, err := os.Open(r.home.Path(fileName))
	if errors.Is(err, fs.ErrNotExist) {
		f, err := parseFile(nil)
		return &snapshot{index: newIndex(f), source: []byte{}, home: r.home}, err
	}
	if err != nil {
		return nil, unreadable(err)
	}
	now := r.now() // before anything is known of the file
	s := &snapshot{file: f, home: r.home}
	if s.stamp, err = home.StampOf(f); err != nil {
		_ = f.Close()
		return nil, unreadable(err)
	}
	if s.stamp.Size > input.MaxDocument {
		_ = f.Close()
		return nil, fault.New(fault.Validation, "%s in the home folder has more than %d MiB, the limit for it", fileName, input.MaxDocument>>20).
			Then(fault.ByPerson("Remove node types that are not used", "pflow-sync remove SERVER"))
	}
	indexed := !whole && s.stamp.Size >= r.leastIndexed
	if indexed {
		if s.index = r.stored(s.stamp); s.index != nil {
			return s, nil
		}
	}
	defer func() { _ = f.Close() }()
	s.file = nil
	source := bytes.NewBuffer(make([]byte, 0, s.stamp.Size+bytes.MinRead))
	if _, err := source.ReadFrom(io.LimitReader(f, input.MaxDocument)); err != nil {
		return nil, unreadable(err)
	}
	s.source = source.Bytes()
	parsed, err := r.parse(s.source)
	if err != nil {
		return nil, err
	}
	s.index = newIndex(parsed)
	if indexed && s.stamp.SettledAt(now) && int64(len(s.source)) == s.stamp.Size {
		_ = r.home.Write(s.encode(s.stamp), 0o600, indexName)
	}
	return s, nil
}

// openSpecial takes a snapshot of a registry that is not a regular file, such as a pipe.
func (r *Registry) openSpecial() (*snapshot, error) {
	source, err := r.home.Read(fileName)
	if err != nil {
		return nil, err
	}
	parsed, err := r.parse(source)
	if err != nil {
		return nil, err
	}
	return &snapshot{index: newIndex(parsed), source: source, home: r.home}, nil
}

// stored returns the index of the state of the file with the given stamp, or nil if no index of that state is stored.
func (r *Registry) stored(of home.Stamp) *index {
	if r.last != nil && r.last.stamp == of {
		return r.last.index
	}
	data, err := r.home.Read(indexName)
	if err != nil {
		return nil
	}
	return decodeIndex(data, of)
}

// typeOf decodes an entry.
func (s *snapshot) typeOf(r record) (t nodetype.Type, err error) {
	var text []byte
	if s.source != nil {
		text = s.source[r.offset : r.offset+r.size]
	} else {
		if most := s.stamp.Size; r.offset < 0 || r.size < 0 || int64(r.offset) > most || int64(r.size) > most {
			return t, brokenEntry(r.name, nil, io.ErrUnexpectedEOF)
		}
		text = make([]byte, r.size)
		if _, err := s.file.ReadAt(text, int64(r.offset)); err != nil {
			return t, unreadable(err)
		}
	}
	if err := t.UnmarshalJSON(text); err != nil {
		return t, brokenEntry(r.name, text, err)
	}
	if t.Name = r.name; t.MCP != nil && t.MCP.Server == "" {
		placeTool(&t, serverNames(s.home))
	}
	return t, nil
}

func unreadable(err error) *fault.Fault {
	return fault.New(fault.Internal, "Cannot read %s in the home folder: %v", fileName, fault.Reason(err)).
		Suggest("Check the folder that PFLOW_HOME names (by default ~/.pflow): its permissions and the space on its disk")
}
