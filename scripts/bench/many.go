package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// manyCalls lets one pflow-serve answer 10,000 calls in a row and then 2,500 with 50 at a time, and measures what that leaves behind:
// memory, processes, open files, and files in the home. The home is of ordinary size, because it is the server that is measured: its
// commands end with each call, and answers have at most 8,192 bytes in any home. It needs /proc.
func (b *bench) manyCalls() ([]result, error) {
	const mostMemory = 1.25 // how much memory may grow
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		fmt.Fprintln(os.Stderr, "bench: there is no /proc, so what many calls leave behind is not measured")
		return nil, nil
	}
	dir, err := b.filledHome("many", 100, 5, 200)
	if err != nil {
		return nil, err
	}
	s, err := connect(dir, b.path("bin", "pflow-serve"))
	if err != nil {
		return nil, err
	}
	defer s.stop()
	var results []result
	for _, series := range []struct{ calls, atATime int }{{10_000, 1}, {2500, 50}} {
		calls, window := series.calls, series.atATime
		if err := s.calls(calls/10, window); err != nil { // the first ones fill what is kept
			return nil, err
		}
		before, err := s.leftovers(dir)
		if err != nil {
			return nil, err
		}
		if err := s.calls(calls, window); err != nil {
			return nil, err
		}
		after, err := s.leftovers(dir)
		if err != nil {
			return nil, err
		}
		name := fmt.Sprintf("%d at a time", window)
		results = append(results, result{
			Subject: name + ", memory after / before", quantity: quantity{after.memory / before.memory, "x"}, Limit: mostMemory, Rounds: calls,
			Beside: []figure{{"before", quantity{before.memory, "MB"}}, {"after", quantity{after.memory, "MB"}}},
		})
		for _, left := range []figure{
			{"processes left", quantity{float64(after.processes), "more"}},
			{"open files", quantity{float64(after.open - before.open), "more"}},
			{"files in the home", quantity{float64(after.files - before.files), "more"}},
		} {
			results = append(results, result{Subject: name + ", " + left.Name, quantity: left.quantity, Rounds: calls})
		}
	}
	return results, nil
}

// calls makes n calls of the tools that read, as many at a time as window says.
func (s *session) calls(n, window int) error {
	describe, list, browse := reads[0], reads[1], reads[3]
	asked, sent := []read{describe, describe, describe, describe, list, describe, describe, describe, describe, browse}, 0 // browse takes longest
	for received := range n {
		for ; sent < n && sent-received < window; sent++ {
			if err := s.send(asked[sent%len(asked)].request(sent)); err != nil {
				return err
			}
		}
		answer, err := s.receive()
		if err == nil {
			err = new(readTimes).see(answer)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// leftovers is what a server has besides its answers.
type leftovers struct {
	memory                 float64 // in MB
	processes, open, files int
}

func (s *session) leftovers(dir string) (l leftovers, err error) {
	proc := filepath.Join("/proc", strconv.Itoa(s.cmd.Process.Pid))
	status, err := os.ReadFile(filepath.Join(proc, "status"))
	if err != nil {
		return l, err
	}
	_, resident, _ := strings.Cut(string(status), "VmRSS:")
	if _, err := fmt.Sscan(resident, &l.memory); err != nil {
		return l, err
	}
	l.memory *= 1024 / 1e6
	open, err := os.ReadDir(filepath.Join(proc, "fd"))
	if err != nil {
		return l, err
	}
	l.open = len(open)
	children, err := filepath.Glob(filepath.Join(proc, "task", "*", "children"))
	if err != nil {
		return l, err
	}
	for _, list := range children {
		pids, err := os.ReadFile(list)
		if err != nil && !os.IsNotExist(err) { // the thread has ended
			return l, err
		}
		l.processes += len(strings.Fields(string(pids)))
	}
	return l, filepath.WalkDir(homeIn(dir), func(_ string, _ os.DirEntry, err error) error {
		l.files++
		return err
	})
}
