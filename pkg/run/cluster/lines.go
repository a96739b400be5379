package cluster

import (
	"bytes"
	"sync"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/run/cluster/payload"
)

// attemptLines takes what pflow-exec node prints. Progress is kept for the next heartbeat only, all else for the end of the attempt.
type attemptLines struct {
	tape *payload.Tape
	stop func(error)

	mu       sync.Mutex
	rest     []byte // whole lines and the beginning of one, not yet on the tape
	scanned  int    // where the last line in rest begins
	progress []byte
	written  int64
	failed   *fault.Fault
}

// together is the number of bytes from which on lines are compressed.
const together = 256 << 10

func (l *attemptLines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed != nil {
		return len(p), nil
	}
	if l.written += int64(len(p)); l.written > maxLines {
		l.fail(fault.New(fault.TooLarge, "The attempt printed more than %d MiB and was stopped", int64(maxLines)>>20))
		return len(p), nil
	}
	at := len(l.rest)
	l.rest = append(l.rest, p...)
	for {
		n := bytes.IndexByte(l.rest[at:], '\n')
		if n < 0 {
			break
		}
		end := at + n + 1
		if line := l.rest[l.scanned:end]; isProgress(line) {
			l.progress = bytes.Clone(bytes.TrimSpace(line))
			l.rest = append(l.rest[:l.scanned], l.rest[end:]...)
			end = l.scanned
		}
		l.scanned, at = end, end
	}
	if l.scanned >= together {
		l.flush(l.scanned)
	}
	return len(p), nil
}

// isProgress reports whether a line has nothing but progress for people: a later one replaces it. The use of models counts as it is.
func isProgress(line []byte) bool {
	return bytes.HasPrefix(line, []byte(`{"progress":`)) && !gjson.GetBytes(line, "progress.llm_usage").Exists()
}

func (l *attemptLines) flush(n int) {
	if err := l.tape.Append(l.rest[:n]); err != nil {
		l.fail(fault.From(err))
		return
	}
	l.rest, l.scanned = append(l.rest[:0], l.rest[n:]...), 0
}

func (l *attemptLines) fail(f *fault.Fault) {
	l.failed, l.rest = f, nil
	l.stop(f)
}

// report returns the progress of the next heartbeat.
func (l *attemptLines) report() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.progress
}

// end returns the lines. If they are too long, the only line is the reply of a failed node.
func (l *attemptLines) end(store *payload.Store, name string) (payload.Packed, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed == nil && len(l.rest) > 0 {
		l.flush(len(l.rest))
	}
	if l.failed == nil {
		return l.tape.Packed(), nil
	}
	return failedReply(store, name, l.failed)
}

// failedReply returns the reply of a node that failed with a fault.
func failedReply(store *payload.Store, name string, f *fault.Fault) (payload.Packed, error) {
	raw, err := rawjson.Marshal(map[string]any{"$action": "error", "$outputs": map[string]string{"error": f.Message}, "$fault": f})
	if err != nil {
		return payload.Packed{}, fault.From(err)
	}
	return store.Pack(name, append(raw, '\n'))
}
