//go:build !race

package report

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/event/history"
	"github.com/pflow-suite/pflow/pkg/fault"
)

// Any events, in any order, become text of the page only.
func TestAnyRunIsAPage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := &history.Run{}
		for range rapid.IntRange(0, 15).Draw(t, "events") {
			h.Apply(anyEvent(t))
		}
		load := func(ref string) ([]byte, error) {
			if strings.Contains(ref, "s") {
				return []byte(ref), nil
			}
			return nil, fault.New(fault.NotFound, "gone")
		}
		var page, fragment strings.Builder
		status := rapid.OneOf(rapid.SampledFrom([]string{"paused", "running", "queued", "interrupted"}), rapid.SampledFrom(hostile)).Draw(t, "status")
		o := Options{Status: event.Status(status), Load: load, ResumedBy: rapid.SampledFrom([]string{"", "", "<b>"}).Draw(t, "resumed by")}
		if err := Write(&page, h, o); err != nil {
			t.Fatal(err)
		}
		checkPage(t, page.String())
		o.MaxBytes = rapid.SampledFrom([]int{0, 4000, 20_000}).Draw(t, "most bytes")
		switch err := WriteFragment(&fragment, h, o); {
		case err != nil && (o.MaxBytes == 0 || fault.From(err).Type != fault.TooLarge):
			t.Fatal(err)
		case err == nil && o.MaxBytes > 0 && fragment.Len() > o.MaxBytes:
			t.Fatalf("%d bytes of at most %d", fragment.Len(), o.MaxBytes)
		case err == nil:
			checkFragment(t, fragment.String())
		}
	})
}
