package suitetools

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/offer"
	"github.com/pflow-suite/pflow/pkg/mcp/source"
	"github.com/pflow-suite/pflow/pkg/mcp/suitetools/suite"
)

// sources keeps the lists of the sources in serve.json. Each source is listed by itself, so that one which hangs holds up no other.
type sources struct {
	suite *suite.Programs
	// listed receives a value when a source has been listed.
	listed chan struct{}

	mu    sync.Mutex
	known []*sourceList // in the order of serve.json
	// changed is set if a list has changed since takeChanged.
	changed bool
}

// sourceList is a source and its last good list.
type sourceList struct {
	source.Source
	// running is closed at the end of the listing under way, and following at the end of the one that begins right after it. Each is
	// nil if there is no such listing.
	running, following chan struct{}

	listings []offer.Listing
	skipped  []*fault.Fault
	digest   [sha256.Size]byte // of what the source printed
	failed   *fault.Fault      // why the source could not be listed last, or nil
	failures int               // how often one after another
	due      time.Time
}

func newSources(suite *suite.Programs) *sources {
	return &sources{suite: suite, listed: make(chan struct{}, 1)}
}

// configure sets the sources. A new or changed one is due at once. One that was known keeps its list.
func (s *sources) configure(configured []source.Source) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var known []*sourceList
	for _, c := range configured {
		i := slices.IndexFunc(s.known, func(l *sourceList) bool { return l.Name == c.Name })
		switch {
		case i < 0:
			known = append(known, &sourceList{Source: c})
		case !reflect.DeepEqual(s.known[i].Source, c):
			changed := *s.known[i]
			changed.Source, changed.running, changed.following, changed.due = c, nil, nil, time.Time{}
			known = append(known, &changed)
		default:
			known = append(known, s.known[i])
		}
	}
	s.known = known
}

// begin lists the sources that are due, or all of them, until ctx ends. The function that it returns waits for listings that began
// after the call of begin, at most until the context it is given ends.
func (s *sources) begin(ctx context.Context, all bool) (wait func(context.Context)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ends []chan struct{}
	for _, l := range s.known {
		switch {
		case l.running == nil && (all || !time.Now().Before(l.due)):
			l.running = make(chan struct{})
			ends = append(ends, l.running)
			go s.list(ctx, l)
		case l.running != nil && all:
			if l.following == nil {
				l.following = make(chan struct{})
			}
			ends = append(ends, l.following)
		}
	}
	return func(waiting context.Context) {
		for _, end := range ends {
			select {
			case <-end:
			case <-waiting.Done():
				return
			}
		}
	}
}

// next returns how long it is until a source is due, at most the given time.
func (s *sources) next(most time.Duration) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.known {
		if l.running == nil {
			most = min(most, max(0, time.Until(l.due)))
		}
	}
	return most
}

// takeChanged reports whether a list has changed since it was called last.
func (s *sources) takeChanged() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	changed := s.changed
	s.changed = false
	return changed
}

// all returns the workflows of all sources, what is left out of them, and why sources could not be listed.
func (s *sources) all() (listings []offer.Listing, skipped []*fault.Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.known {
		listings, skipped = append(listings, l.listings...), append(skipped, l.skipped...)
		if l.failed != nil {
			skipped = append(skipped, l.failed)
		}
	}
	return listings, skipped
}

// list lists a source, sets when it is due again, and lists it once more if that was asked for meanwhile.
func (s *sources) list(ctx context.Context, l *sourceList) {
	for again := true; again; {
		array, listings, skipped, failed := s.read(ctx, l.Name)
		s.mu.Lock()
		if ctx.Err() == nil {
			s.record(l, array, listings, skipped, failed)
		}
		close(l.running)
		l.running, l.following = l.following, nil
		again = l.running != nil
		s.mu.Unlock()
		select {
		case s.listed <- struct{}{}:
		default:
		}
	}
}

// record records what a listing has found. The mu must be held.
func (s *sources) record(l *sourceList, array []byte, listings []offer.Listing, skipped []*fault.Fault, failed *fault.Fault) {
	if failed == nil {
		digest := sha256.Sum256(array)
		s.changed = s.changed || l.failed != nil || digest != l.digest
		l.digest, l.listings, l.skipped, l.failures = digest, listings, skipped, 0
	} else {
		s.changed = s.changed || l.failed == nil || l.failed.Message != failed.Message
		l.failures++
	}
	l.failed = failed
	l.due = time.Now().Add(pauseAfter(l.failures, l.Refresh, rand.Float64()))
}

// pauseAfter returns how long after an attempt a source is listed again: its refresh after a success, and after failures a time that
// grows from a second up to that, less up to a quarter of it by random, from 0 to 1, so that many servers do not ask at once.
func pauseAfter(failures int, refresh time.Duration, random float64) time.Duration {
	if failures > 0 && failures < 30 {
		refresh = min(refresh, time.Second<<(failures-1))
	}
	return refresh - time.Duration(random*float64(refresh)/4)
}

// read returns what a source prints, and the workflows in that.
func (s *sources) read(ctx context.Context, name string) (array []byte, listings []offer.Listing, skipped []*fault.Fault, failed *fault.Fault) {
	const program = "pflow-lib"
	o, err := s.suite.Run(ctx, suite.Command{Program: program, Long: true, Args: []string{"--quiet", "--format=json", "list", "--tools", "--source=" + name}})
	if err == nil && o.Exit != 0 {
		f := fault.New(fault.Unavailable, "%s list failed with exit status %d: %s", program, o.Exit, o.Stderr)
		_ = json.Unmarshal([]byte(gjson.GetBytes(o.Output, "error").Raw), f)
		err = f
	}
	if err == nil {
		listings, skipped, err = offer.Parse(name, o.Output)
	}
	if err != nil {
		return nil, nil, nil, fault.From(err).Detail("source", name)
	}
	return o.Output, listings, skipped, nil
}
