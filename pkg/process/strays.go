package process

import (
	"os"
	"sync"
	"time"
)

// Strays are the descendants of this program that have left the groups of its children, whatever their environment. After
// AdoptOrphans they include descendants whose parents have ended. A descendant that was started with Command.Session, by
// this program or by a descendant, is not a stray. Only Linux shows parents; elsewhere no strays are found.
type Strays struct {
	// Mark is a variable, NAME=VALUE. Every process that has it is a stray too. A descendant with another value of NAME
	// belongs to a program that ends its own descendants: it gets no SIGTERM, but SIGKILL with the rest.
	Mark string
	// Grace is the time between SIGTERM and SIGKILL.
	Grace time.Duration

	mu       sync.Mutex
	deadline time.Time
}

// Terminate sends SIGTERM to the current strays and starts the grace. Call it when this program's children receive their
// SIGTERM.
func (s *Strays) Terminate() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deadline = time.Now().Add(s.Grace)
	left, _ := s.find()
	for _, p := range left {
		if _, ours := groups.Load(p.group); !ours && !p.ended && !s.spares(p) {
			terminate(p)
		}
	}
}

// End ends all descendants of this program and returns when none is left: SIGTERM unless Terminate has sent it, SIGKILL
// after the grace. Call it when this program's children have ended.
func (s *Strays) End() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.deadline.IsZero() {
		s.deadline = time.Now().Add(s.Grace)
	}
	takeDown(s.deadline, s.find, s.spares)
}

// EndRemaining is like End, but returns at once if this program has adopted all orphans and has no child left. Call it when
// this program's work is done and its children have ended.
func (s *Strays) EndRemaining() {
	if !adoptsOrphans.Load() || !childless() {
		s.End()
	}
}

// find returns the strays. It may miss one whose parent ends while the table is read. The missed process becomes a child of
// this program, so the list is complete once this program has no children.
func (s *Strays) find() (left []procInfo, complete bool) {
	all := table()
	collectFrom(all)
	left, spared := descendants(all, os.Getpid())
	return append(left, marked(all, []string{s.Mark})...), spared || childless()
}

// spares reports whether a process is left to the program that has marked it.
func (s *Strays) spares(p procInfo) bool { return differs(environment(p.pid), []string{s.Mark}) }
