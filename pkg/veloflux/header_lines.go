package veloflux

import (
	"net/http"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// ParseHeader reads headers that are given as "Name: value" each, for Config. Its errors are faults that show no value.
func ParseHeader(lines []string) (http.Header, error) {
	found := http.Header{}
	for _, line := range lines {
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return nil, fault.New(fault.Usage, "A header has no colon").Suggest("Write it as Name: value")
		}
		if err := addHeader(found, name, value); err != nil {
			return nil, fault.New(fault.Usage, "%v", err)
		}
	}
	return found, nil
}
