package cli

import (
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// unknown returns the fault of a command line that cannot be parsed. For a flag or a command of another program it says what to write.
func (s System) unknown(message string) *fault.Fault {
	for _, what := range []string{"unknown flag ", "unexpected argument "} {
		rest, ok := strings.CutPrefix(message, what)
		if !ok {
			continue
		}
		word, _, _ := strings.Cut(rest, ", did you mean")
		instead, ok := s.Instead[word]
		if !ok && what == "unexpected argument " && (strings.HasSuffix(word, ".md") || strings.HasSuffix(word, ".json")) {
			instead, ok = s.Instead["FILE"]
		}
		if ok {
			return fault.New(fault.Usage, "%s%s", what, word).Suggest("%s", instead)
		}
	}
	return fault.New(fault.Usage, "%s", message)
}
