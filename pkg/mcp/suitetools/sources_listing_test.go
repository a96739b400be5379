package suitetools

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pflow-suite/pflow/pkg/mcp/source"
	"github.com/pflow-suite/pflow/pkg/mcp/suitetools/suite"
)

// A listing that is asked for while another is under way follows it once, for all who ask. What is due never waits in line.
func TestListingsAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const takes = 8 * time.Second
		var begun, open atomic.Int32
		s := newSources(&suite.Programs{Execute: func(ctx context.Context, _ suite.Command) (*suite.Outcome, error) {
			begun.Add(1)
			if open.Add(1) > 1 {
				t.Error("two listings at once")
			}
			defer open.Add(-1)
			select {
			case <-time.After(takes):
				return &suite.Outcome{Output: []byte("[]")}, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}})
		s.configure([]source.Source{{Name: "crm", Refresh: 5 * time.Second}})
		ctx, end := context.WithCancel(t.Context())
		for range 100 { // as a timer that is due again before the listing has begun
			s.begin(ctx, false)
			s.next(time.Minute)
		}
		time.Sleep(time.Second)
		from := time.Now()
		waits := []func(context.Context){s.begin(ctx, true), s.begin(ctx, true), s.begin(ctx, true)}
		for _, wait := range waits {
			wait(ctx)
		}
		if took := time.Since(from); took != 2*takes-time.Second || begun.Load() != 2 {
			t.Errorf("the listings took %v, and %d began", took, begun.Load())
		}
		if next := s.next(time.Minute); next < 3*time.Second || next > 5*time.Second {
			t.Errorf("the next listing is due in %v", next)
		}
		impatient, leave := context.WithTimeout(ctx, time.Second)
		defer leave()
		from = time.Now()
		s.begin(ctx, true)(impatient)
		if took := time.Since(from); took != time.Second {
			t.Errorf("a wait that ended after a second took %v", took)
		}
		wait := s.begin(ctx, true)
		end()
		from = time.Now()
		wait(t.Context())
		if took := time.Since(from); took != 0 {
			t.Errorf("at the end of the server a wait took %v", took)
		}
	})
}
