//go:build !race

package jq

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// The memory of a filter is limited, and garbage does not count.
func TestAFilterThatKeepsWithoutEnd(t *testing.T) {
	in := given(t, `{"filter":"[range(infinite)]"}`)
	limit := limits{time: time.Hour, memory: 32 << 20}
	out, err := run(t.Context(), &in, limit, io.Discard)
	if f := fault.From(err); f == nil || f.Type != fault.TooLarge || !strings.Contains(f.Message, "more than 32 MiB of memory") {
		t.Errorf("%v %v", out, err)
	}
	in.Filter = `last(range(200) | "x" * 1000000 | length)`
	if out, err := run(t.Context(), &in, limit, io.Discard); err != nil || string(out.Result) != "1000000" {
		t.Errorf("%v %v", out, err)
	}
}
