package suitetools

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// report is one report of progress.
type report struct {
	done, total float64
	message     string
}

// reports collects the reports of progress, which must increase and must not exceed their total.
type reports struct {
	*testing.T
	mu  sync.Mutex
	all []report
}

func (r *reports) add(done, total float64, message string) {
	r.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := len(r.all); n > 0 && done <= r.all[n-1].done {
		r.Errorf("%v of %q follows %v of %q", done, message, r.all[n-1].done, r.all[n-1].message)
	}
	if total != 0 && done > total {
		r.Errorf("%v of %v: %s", done, total, message)
	}
	r.all = append(r.all, report{done, total, message})
}

// now returns what has been reported so far.
func (r *reports) now() []report {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.all)
}

// messages returns what has been reported so far, without the values.
func (r *reports) messages() (messages []string) {
	for _, one := range r.now() {
		messages = append(messages, one.message)
	}
	return messages
}

func TestProgressNamesNodesItemsAndIterations(t *testing.T) {
	r := &reports{T: t}
	p := newProgress(r.add)
	for _, line := range []string{
		`{"event":"run_started","nodes":["each","poll","outer"]}`,
		`{"event":"node_started","node":"each","items":2}`,
		`{"event":"item_completed","node":"each","item":0}`,
		`{"event":"node_failed","node":"each","item":1,"will_retry":true}`,
		`{"event":"node_failed","node":"each","item":1,"will_retry":false}`,
		`{"event":"node_completed","node":"each"}`,
		`{"event":"node_progress","node":"poll","done":1,"total":3,"message":"one of three"}`,
		`{"event":"iteration_completed","node":"poll","iteration":2}`,
		`{"event":"node_failed","node":"poll","will_retry":true}`,
		`{"event":"node_completed","node":"poll"}`,
		`{"event":"approval_requested","node":"outer"}`,
		`{"event":"node_completed","node":"outer[2]/inner"}`,
		`{"event":"node_skipped","node":"outer"}`,
		`{"event":"run_finished"}`,
	} {
		p.apply([]byte(line))
	}
	p.end()
	want := []string{
		"item_completed each[0]", "node_failed each[1]", "node_failed each[1]", "node_completed each",
		"poll: one of three", "iteration_completed poll#2", "node_failed poll", "node_completed poll",
		"approval_requested outer", "node_completed outer[2]/inner", "node_skipped outer",
	}
	if got := r.messages(); !slices.Equal(got, want) {
		t.Errorf("reports %q, not %q", got, want)
	}
	for i, done := range map[int]float64{3: 1, 7: 2, 10: 3} {
		if got := r.now()[i]; got.done != done || got.total != 3 {
			t.Errorf("%s is %v of %v, not %v of 3", got.message, got.done, got.total, done)
		}
	}
}

// A silent run is reported every 20 seconds, before it is known and after its last node too.
func TestProgressHasAHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &reports{T: t}
		p := newProgress(r.add)
		expect := func(after time.Duration, want ...string) {
			t.Helper()
			before := len(r.now())
			time.Sleep(after)
			synctest.Wait()
			if got := r.messages()[before:]; !slices.Equal(got, want) {
				t.Errorf("%s later it reports %q, not %q", after, got, want)
			}
		}
		expect(19 * time.Second)
		expect(time.Second, "waiting")
		p.apply([]byte(`{"event":"run_started","nodes":["a","b"]}`))
		p.apply([]byte(`{"event":"node_started","node":"a"}`))
		p.apply([]byte(`{"event":"node_started","node":"b"}`))
		expect(45*time.Second, "running a, b", "running a, b")
		p.apply([]byte(`{"event":"node_completed","node":"a"}`))
		expect(19 * time.Second)
		expect(time.Second, "running b")
		p.apply([]byte(`{"event":"node_completed","node":"b"}`))
		if last := r.now()[len(r.now())-1]; last.done != 2 || last.total != 2 {
			t.Errorf("at the end it is %v", last)
		}
		expect(time.Minute, "waiting", "waiting", "waiting")
		p.end()
		expect(time.Hour)
	})
}

// Whatever a run does, progress increases, and is bounded: 50 reports at once and 10 a second.
func TestProgressIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &reports{T: t}
		p := newProgress(r.add)
		p.apply([]byte(`{"event":"run_started","nodes":` + list(1000) + `}`))
		for i := range 100_000 {
			p.apply(fmt.Appendf(nil, `{"event":"item_completed","node":"each","item":%d}`, i))
		}
		if len(r.now()) != burst {
			t.Errorf("%d reports of 100,000 items at once", len(r.now()))
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		before := len(r.now())
		for i := range 1000 {
			time.Sleep(time.Duration(rand.IntN(20)) * time.Millisecond)
			p.apply(fmt.Appendf(nil, `{"event":"node_completed","node":"n%d"}`, i))
			p.apply(fmt.Appendf(nil, `{"event":"node_completed","node":"n%d/inner"}`, i))
		}
		p.end()
		if n := len(r.now()) - before; n < burst || n > burst+10*20+2 {
			t.Errorf("%d reports of 2,000 nodes in at most 20 seconds", n)
		}
		if !slices.ContainsFunc(r.now(), func(one report) bool { return one.done == 1000 && one.total == 1000 }) {
			t.Errorf("the last node is not reported: %v", r.now()[len(r.now())-1])
		}
	})
}

// list returns a JSON list of n ids.
func list(n int) string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf("n%d", i)
	}
	return "[\"" + strings.Join(ids, `","`) + "\"]"
}
