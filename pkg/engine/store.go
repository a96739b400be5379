package engine

import (
	"encoding/json"
	"fmt"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home/redact"
)

// store makes values and texts fit to be written: without secrets, and with long values in blobs of the journal. It holds
// nothing of the run's state, so its methods need no lock.
type store struct {
	journal  Journal
	redactor *redact.Redactor
	private  privates
}

// blob returns the content of a reference.
func (s *store) blob(ref string) ([]byte, error) {
	if isPrivate(ref) {
		return s.private.load(ref)
	}
	return s.journal.Blob(ref)
}

// keep returns a value of the stream as it is written: without secrets, and with references in place of long parts. redacted
// reports whether it contained a secret.
func (s *store) keep(raw json.RawMessage) (kept json.RawMessage, redacted bool, err error) {
	kept, redacted = s.redactor.JSON(raw)
	kept, private := s.private.publish(kept)
	kept, err = event.Spill(kept, s.journal.PutBlob)
	return kept, redacted || private, err
}

// plain returns the JSON that a value of the stream stands for.
func (s *store) plain(raw json.RawMessage) (json.RawMessage, error) {
	return event.Plain(raw, s.blob)
}

// inline returns an object of the stream itself if raw is a reference to it, else raw.
func (s *store) inline(raw json.RawMessage) (json.RawMessage, error) {
	if ref, ok := event.ReferenceOf(raw); ok {
		return s.blob(ref.Blob)
	}
	return raw, nil
}

// maxFault is the most bytes that the fault of a node has in its event, and in what is made from it.
const maxFault = 32 << 10

// fault returns a fault as it is written: without secrets, and cut to maxFault.
func (s *store) fault(f *fault.Fault) *fault.Fault { return s.redactor.Fault(f).LimitBytes(maxFault) }

// warnings returns warnings as they are written: without secrets, and only counted beyond maxWarnings.
func (s *store) warnings(texts []string) []string {
	var out []string
	for _, text := range texts[:min(len(texts), maxWarnings)] {
		out = append(out, s.redactor.Text(text))
	}
	if more := len(texts) - maxWarnings; more > 0 {
		out = append(out, fmt.Sprintf("and %d more warnings", more))
	}
	return out
}

// longOutputs is the length from which outputs without secrets are not held in memory. Others are not from InlineLimit on: they
// are held to the end of the run.
const longOutputs = 1 << 20
