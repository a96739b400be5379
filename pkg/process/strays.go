package process

import (
	"os"
	"sync"
	"time"
)

// Strays are the descendants of this program that have left the groups of its children, whatever their environment: with
// AdoptOrphans also those whose parents have ended. What Command.Session gave a session of its own, however deep, is none
// of them. Only Linux shows who descends from whom: elsewhere there are none.
type Strays struct {
	// Mark is a variable, NAME=VALUE. Whoever has it is one of them too. A descendant that has another value of NAME
	// belongs to a program which sees to its end itself: it is not told to end, but killed with the rest.
	Mark string
	// Grace is the time between SIGTERM and SIGKILL.
	Grace time.Duration

	mu       sync.Mutex
	deadline time.Time
}

// Terminate sends SIGTERM to the strays that there are now, and from then on the grace counts. It is for the moment at
// which this program's children are told to end.
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

// End takes down by the ladder all that descends from this program, until nothing of it is left. It is for the moment at
// which this program's children have ended.
func (s *Strays) End() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.deadline.IsZero() {
		s.deadline = time.Now().Add(s.Grace)
	}
	takeDown(s.deadline, s.find, s.spares)
}

// find may miss one that starts another and ends while the table is read. But it becomes a child of this program, so that
// what is left when there are no children is nothing.
func (s *Strays) find() (left []process, whole bool) {
	all := table()
	collect(all)
	left, spared := descendants(all, os.Getpid())
	return append(left, marked(all, []string{s.Mark})...), spared || childless()
}

func (s *Strays) spares(p process) bool { return another(environment(p.pid), []string{s.Mark}) }
