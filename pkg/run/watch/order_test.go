package watch

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/run/journal"
)

// However runs are created, begun and ended beside each other, the stream has each journal whole, and no run ends in it before all
// older ones have begun.
func TestTheOrderOfAStream(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		inner := newFixture(t)
		polls := rapid.Bool().Draw(rt, "polls")
		s := inner.follow(nil, func(w *watcher) {
			w.changes.never = w.changes.never || polls
			w.changes.locks.Reset(lockPeriod / 50)
		})
		defer s.stop()
		var open []*journal.Writer
		begun := map[string]bool{}
		for range rapid.IntRange(1, 20).Draw(rt, "steps") {
			if len(open) == 0 || rapid.IntRange(0, 2).Draw(rt, "create") == 0 {
				open = append(open, inner.create())
				continue
			}
			i := rapid.IntRange(0, len(open)-1).Draw(rt, "run")
			w := open[i]
			inner.add(w, event.RunStarted)
			begun[w.ID] = true
			if rapid.Bool().Draw(rt, "ends") {
				inner.end(w)
			} else {
				w.Close()
			}
			open = slices.Delete(open, i, i+1)
		}
		for _, w := range open { // they never begin
			w.Close()
			w.Remove()
		}
		ends := 0
		seen := map[string]bool{}
		for ends < len(begun) {
			id, kind, _ := strings.Cut(s.next(), " ")
			switch kind {
			case "run_started":
				seen[id] = true
			default:
				ends++
				for other := range begun {
					if other < id && !seen[other] {
						rt.Fatalf("%s of run %s comes before run %s has begun", kind, id, other)
					}
				}
			}
		}
		for id := range begun {
			s.is(id)
		}
	})
}
