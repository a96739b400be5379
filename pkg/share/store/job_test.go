package store

import (
	"slices"
	"strconv"
	"testing"
	"time"
)

// job makes a job with a run. The day of its workflow has room.
func job(t *testing.T, s *Store, n int) Admission {
	t.Helper()
	a := Admission{ID: int64(n), Job: JobPrefix + pad(n), Share: Share{Token: "AAAAAAAAAAAA", Workflow: "a"}, At: s.now()}
	if err := s.SetRun(t.Context(), a, "r"+strconv.Itoa(n)); err != nil {
		t.Fatal(err)
	}
	return a
}

func pad(n int) string {
	text := "000000000000000" + strconv.Itoa(n)
	return text[len(text)-jobLength+1:] + "x"
}

func shown(t *testing.T, s *Store, id string) bool {
	t.Helper()
	_, ok, err := s.Job(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return ok
}

func TestJobsAreShownForAnHour(t *testing.T) {
	s, c := newStore(t)
	a := job(t, s, 1)
	c.add(Lifetime - time.Millisecond)
	b := job(t, s, 2)
	if list, err := s.Jobs(t.Context()); err != nil || len(list) != 2 || list[0].ID != b.Job || list[1].Run != "r1" {
		t.Errorf("%+v, %v", list, err)
	}
	if removed, err := s.Sweep(t.Context()); removed != 0 || err != nil {
		t.Errorf("%d, %v", removed, err)
	}
	c.add(time.Millisecond)
	if shown(t, s, a.Job) || !shown(t, s, b.Job) {
		t.Error("the job is shown for more or less than an hour")
	}
	if removed, err := s.Sweep(t.Context()); removed != 1 || err != nil {
		t.Errorf("%d, %v", removed, err)
	}
	var left int
	if c.add(keepAdmissions); s.db.QueryRow("SELECT count(*) FROM admissions").Scan(&left) != nil || left != 2 {
		t.Errorf("%d admissions, which count for two days", left)
	}
	if _, err := s.Sweep(t.Context()); err != nil || s.db.QueryRow("SELECT count(*) FROM admissions").Scan(&left) != nil || left != 0 {
		t.Errorf("%d admissions, %v", left, err)
	}
}

func TestTheLeastRecentlyReadJobGoesFirst(t *testing.T) {
	s, _ := newStore(t)
	var ids []string
	for n := range MaxJobs {
		ids = append(ids, JobPrefix+pad(n+1))
	}
	fill := "WITH RECURSIVE generate(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM generate WHERE value < ?2) INSERT INTO jobs SELECT 'job_' || printf('%015d', value) || 'x', value, 'AAAAAAAAAAAA', 'a', 'r', ?1, value FROM generate"
	if _, err := s.db.Exec(fill, s.now().UnixMilli(), MaxJobs); err != nil {
		t.Fatal(err)
	}
	if !shown(t, s, ids[0]) { // it is now the one that was read last
		t.Fatal("the first job is not there")
	}
	newest := job(t, s, MaxJobs+1)
	list, err := s.Jobs(t.Context())
	if err != nil || len(list) != MaxJobs {
		t.Fatalf("%d jobs, %v", len(list), err)
	}
	has := func(id string) bool { return slices.ContainsFunc(list, func(j Job) bool { return j.ID == id }) }
	if !has(newest.Job) || !has(ids[0]) || has(ids[1]) || !has(ids[2]) {
		t.Error("another job was removed")
	}
}

// A process that was killed while it started a run leaves a job without one.
func TestSettle(t *testing.T) {
	s, c := newStore(t)
	token := add(t, s, "a")
	var admitted []Admission
	for range PerWindow {
		a, err := s.Admit(t.Context(), token, true)
		if err != nil {
			t.Fatal(err)
		}
		admitted = append(admitted, a)
	}
	started, slow, lost := admitted[0], admitted[1], admitted[2:]
	begins := true
	runs := func(id string) (run string, settled bool) {
		switch id {
		case started.Job:
			return "r1", true
		case slow.Job:
			return "", !begins
		}
		return "", true
	}
	settle := func() []Job {
		if err := s.Settle(t.Context(), s.now(), runs); err != nil {
			t.Fatal(err)
		}
		list, err := s.Jobs(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	c.add(StartLimit - time.Millisecond)
	if list := settle(); len(list) != PerWindow || !slices.ContainsFunc(list, func(j Job) bool { return j.Run == "r1" }) {
		t.Errorf("%+v", list)
	}
	if ok, _ := admits(t, s, token); ok {
		t.Error("a job whose run may still be created does not count")
	}
	c.add(time.Millisecond)
	if list := settle(); len(list) != 2 || !slices.ContainsFunc(list, func(j Job) bool { return j.ID == slow.Job }) {
		t.Errorf("a job whose run is being created is among %+v", list)
	}
	begins = false
	if list := settle(); len(list) != 1 || list[0].ID != started.Job {
		t.Errorf("%+v", list)
	}
	if left, err := s.Remaining(t.Context()); err != nil || left("a") != PerDay-1 {
		t.Errorf("%d left, %v", left("a"), err)
	}
	if err := s.SetRun(t.Context(), lost[0], "r2"); err != nil { // its process was only very slow
		t.Fatal(err)
	}
	if list, err := s.Jobs(t.Context()); err != nil || len(list) != 2 {
		t.Errorf("%+v", list)
	}
	if left, err := s.Remaining(t.Context()); err != nil || left("a") != PerDay-2 {
		t.Errorf("%d left, %v", left("a"), err)
	}
}
