package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
)

func TestARunIsADirectory(t *testing.T) {
	h := tempHome(t)
	r := create(t, h)
	if !IsID(r.ID) || r.Dir() != h.Path("runs", r.ID) {
		t.Errorf("id %s in %s", r.ID, r.Dir())
	}
	log := r.Log("a/b", "stdout")
	if _, err := io.WriteString(log, "said"); err != nil {
		t.Fatal(err)
	}
	silent := r.Log("silent", "stdout")
	ref, err := r.PutBlob([]byte("long"))
	if err := errors.Join(err, log.Close(), silent.Close()); err != nil {
		t.Fatal(err)
	}
	want := map[string]fs.FileMode{
		".": fs.ModeDir | 0o700, "journal.ndjson": 0o600, "workflow.json": 0o600, "lock": 0o600, "blobs": fs.ModeDir | 0o700, "logs": fs.ModeDir | 0o700,
		"logs/a%2fb.stdout": 0o600, "blobs/" + strings.TrimPrefix(ref, "sha256:"): 0o600,
	}
	err = filepath.WalkDir(r.Dir(), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(r.Dir(), path)
		info, err := d.Info()
		if mode, ok := want[name]; !ok || info.Mode() != mode {
			t.Errorf("%s: %v, want %v", name, info.Mode(), mode)
		}
		delete(want, name)
		return err
	})
	if err != nil || len(want) > 0 {
		t.Errorf("missing %v, %v", want, err)
	}
	if entries, err := os.ReadDir(h.Path("runs")); err != nil || len(entries) != 2 || entries[0].Name() != newestFile {
		t.Errorf("left over: %v %v", entries, err)
	}
	if b, err := find(t, h, r.ID).Definition(); err != nil || string(b) != `{"nodes":[]}` {
		t.Errorf("%s %v", b, err)
	}
}

func TestAppendNumbersAndDates(t *testing.T) {
	h := tempHome(t)
	r := create(t, h)
	rec := find(t, h, r.ID)
	if first, last, err := rec.FirstAndLast(); first != nil || last != nil || err != nil {
		t.Errorf("an empty journal: %v %v %v", first, last, err)
	}
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			add(t, r, &event.Event{Event: event.NodeStarted, Node: fmt.Sprint("n", i), Message: strings.Repeat("<", 10_000)})
		})
	}
	all.Wait()
	if err := r.Append(&event.Event{Event: event.NodeProgress, Message: strings.Repeat("x", event.MaxLine)}); fault.From(err).Type != fault.TooLarge {
		t.Errorf("%v", err)
	}
	add(t, r, &event.Event{Event: event.RunFinished, Status: event.Completed})
	journal, err := rec.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = journal.Close() }()
	events := event.NewReader(journal)
	for seq := int64(1); seq <= 9; seq++ {
		e, _, err := events.Next()
		if err != nil || e.Seq != seq || e.V != event.Version || e.Run != r.ID || e.Time.IsZero() || e.Time.Location().String() != "UTC" {
			t.Fatalf("%d: %+v %v", seq, e, err)
		}
	}
	if _, _, err := events.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("%v", err)
	}
	first, last, err := rec.FirstAndLast()
	if err != nil || first.Seq != 1 || last.Seq != 9 || status(t, rec) != event.Completed {
		t.Errorf("%+v %+v %v", first, last, err)
	}
}

func TestEndsFindsALongLastLine(t *testing.T) {
	h := tempHome(t)
	r := create(t, h)
	add(t, r, &event.Event{Event: event.RunStarted}, &event.Event{Event: event.NodeProgress, Message: strings.Repeat("x", 500_000)})
	if first, last, err := find(t, h, r.ID).FirstAndLast(); err != nil || first.Event != event.RunStarted || last.Event != event.NodeProgress || last.Seq != 2 {
		t.Errorf("%v", err)
	}
}

func TestATornLastLineDoesNotCount(t *testing.T) {
	h := tempHome(t)
	r := create(t, h)
	add(t, r, &event.Event{Event: event.RunStarted})
	r.Close()
	journal := filepath.Join(r.Dir(), journalFile)
	for _, torn := range []string{`{"v":1,"seq":2,"event":"run_finished","status":"completed"}`, strings.Repeat("x", 50_000)} {
		whole, err := os.ReadFile(journal)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(journal, append(slices.Clone(whole), torn...), 0o600); err != nil {
			t.Fatal(err)
		}
		rec := find(t, h, r.ID)
		if got := status(t, rec); got != Interrupted {
			t.Errorf("status %s", got)
		}
		if _, last, err := rec.FirstAndLast(); err != nil || last == nil || last.Event != event.RunStarted {
			t.Errorf("%+v %v", last, err)
		}
		var lines []string
		err = rec.Follow(t.Context(), func(line []byte) error { lines = append(lines, string(line)); return nil })
		if err != nil || strings.Join(lines, "") != string(whole) {
			t.Errorf("%v %q", err, lines)
		}
		if err := os.WriteFile(journal, whole, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestBlobs(t *testing.T) {
	h := tempHome(t)
	r := create(t, h)
	content := bytes.Repeat([]byte{0, 0xff, '\n'}, 100_000)
	ref, err := r.PutBlob(content)
	again, err2 := r.PutBlob(content)
	if err := errors.Join(err, err2); err != nil || ref != again || ref != event.Digest(content) {
		t.Errorf("%s %s %v", ref, again, err)
	}
	for _, read := range []func(string) ([]byte, error){r.Blob, find(t, h, r.ID).Blob} {
		if got, err := read(ref); err != nil || !bytes.Equal(got, content) {
			t.Errorf("%d bytes, %v", len(got), err)
		}
		_, err := read(event.Digest([]byte("another")))
		if f := fault.From(err); f == nil || f.Type != fault.Execution || !strings.Contains(f.Message, "missing") {
			t.Errorf("%v", err)
		}
		for _, bad := range []string{"", "sha256:", "sha256:../../lock", "lock", "sha256:" + strings.Repeat("g", 64), "sha256:" + strings.Repeat("/", 64)} {
			if _, err := read(bad); fault.From(err) == nil || fault.From(err).Type != fault.Protocol {
				t.Errorf("%q: %v", bad, err)
			}
		}
	}
	if entries, err := os.ReadDir(filepath.Join(r.Dir(), blobsDir)); err != nil || len(entries) != 1 {
		t.Errorf("left over: %v %v", entries, err)
	}
}

func TestLogNamesStayInTheirFolder(t *testing.T) {
	for node, want := range map[string]string{"a-b_1": "a-b_1", "../x": "%2e%2e%2fx", "": "", "ü": "%c3%bc", ".": "%2e"} {
		if got := safeFile(node); got != want {
			t.Errorf("%q: %s, want %s", node, got, want)
		}
	}
	long, other := safeFile(strings.Repeat("n", 300)), safeFile(strings.Repeat("n", 301))
	if len(long) > 100 || long == other {
		t.Errorf("%s %s", long, other)
	}
}

func TestFind(t *testing.T) {
	h := tempHome(t)
	if _, err := Find(h, "last"); fault.From(err) == nil || fault.From(err).Type != fault.NotFound {
		t.Errorf("no runs: %v", err)
	}
	ids := []string{"r01aaaaaaaaaaaaaaaaaaaaaaaa", "r01bbbbbbbbbbbbbbbbbbbbbbb1", "r01bbbbbbbbbbbbbbbbbbbbbbb2"}
	for _, id := range append(ids, ".new-r01ccccccccccccccccccccccc", "other") {
		if _, err := h.Make("runs", id); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.Write(nil, 0o600, "runs", "r01ccccccccccccccccccccccccc"[:27]); err != nil { // a file is no run
		t.Fatal(err)
	}
	records, err := List(h)
	if err != nil || len(records) != 3 || records[0].ID != ids[2] || records[2].ID != ids[0] {
		t.Errorf("%v %v", records, err)
	}
	for ref, want := range map[string]string{"last": ids[2], ids[0]: ids[0], strings.ToUpper(ids[1]): ids[1], "r01a": ids[0], "R01A": ids[0], ids[1][:26]: ""} {
		rec, err := Find(h, ref)
		if want == "" {
			f := fault.From(err)
			if f == nil || f.Type != fault.Usage || strings.Join(f.Available, " ") != ids[2]+" "+ids[1] || !strings.Contains(f.Message, "2 runs begin with "+ref) {
				t.Errorf("%s: %+v", ref, f)
			}
			continue
		}
		if err != nil || rec.ID != want {
			t.Errorf("%s: %v %v", ref, rec, err)
		}
	}
	for ref, want := range map[string]fault.Type{
		"r02": fault.NotFound, "": fault.NotFound, "other": fault.NotFound, ".new-r01ccccccccccccccccccccccc": fault.NotFound, "nolast": fault.NotFound,
		"../runs/" + ids[0]: fault.Security, "/etc": fault.Security, "..": fault.Security, "a\x00b": fault.Security,
	} {
		_, err := Find(h, ref)
		f := fault.From(err)
		if f == nil || f.Type != want || f.ExitStatus() != 2 || len(f.Suggestions) == 0 || strings.Contains(f.Error(), h.Dir()) {
			t.Errorf("%q: %+v, want %s", ref, f, want)
		}
	}
}

func TestStatusFollowsTheHolder(t *testing.T) {
	h := tempHome(t)
	e := startElsewhere(t, h)
	if !e.rec.Held() || status(t, e.rec) != Running {
		t.Errorf("held %v, %s", e.rec.Held(), status(t, e.rec))
	}
	if _, err := e.rec.Hold(t.Context()); err == nil || fault.From(err).Type != fault.Conflict || len(fault.From(err).Suggestions) == 0 {
		t.Errorf("%v", err)
	}
	e.tell(t, "die")
	_ = e.Wait()
	if e.rec.Held() || status(t, e.rec) != Interrupted {
		t.Errorf("held %v, %s", e.rec.Held(), status(t, e.rec))
	}
	if done, err := e.rec.Cancel(); done || err != nil {
		t.Errorf("cancelled a run that no process executes: %v %v", done, err)
	}
}

func TestHold(t *testing.T) {
	h := tempHome(t)
	e := startElsewhere(t, h)
	e.tell(t, "die")
	_ = e.Wait()
	release, err := e.rec.Hold(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if e.rec.Held() || status(t, e.rec) != Interrupted { // it is held by a resume, but no process executes it
		t.Errorf("held %v, %s", e.rec.Held(), status(t, e.rec))
	}
	if _, err := e.rec.Hold(t.Context()); fault.From(err) == nil || fault.From(err).Type != fault.Conflict {
		t.Errorf("two hold it: %v", err)
	}
	if done, err := e.rec.Cancel(); done || err != nil {
		t.Errorf("cancelling reached the resuming program: %v %v", done, err)
	}
	release()
	release, err = e.rec.Hold(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	release()
}

func TestAFullDiskLeavesWholeLines(t *testing.T) {
	h := tempHome(t)
	e := startElsewhere(t, h)
	e.tell(t, "fill the disk")
	if said := e.line(t); !strings.HasPrefix(said, "internal_error Cannot write the run's journal: file too large") {
		t.Errorf("%s", said)
	}
	if said := e.line(t); said != "<nil>" { // what fits still fits
		t.Errorf("%s", said)
	}
	journal, err := os.ReadFile(filepath.Join(e.rec.dir, journalFile))
	if err != nil || len(journal) == 0 || journal[len(journal)-1] != '\n' {
		t.Fatalf("%q %v", journal, err)
	}
	events := event.NewReader(bytes.NewReader(journal))
	for seq := int64(1); ; seq++ {
		ev, _, err := events.Next()
		if errors.Is(err, io.EOF) {
			if seq < 5 {
				t.Errorf("%d lines", seq-1)
			}
			break
		}
		if err != nil || ev.Seq != seq {
			t.Fatalf("line %d: %+v %v", seq, ev, err)
		}
	}
	if _, last, err := e.rec.FirstAndLast(); err != nil || last.Node != "short" {
		t.Errorf("%+v %v", last, err)
	}
}

func TestARecordThatCannotBeKeptNamesNoPath(t *testing.T) {
	file := filepath.Join(t.TempDir(), "no-folder")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	h, err := home.Open(file, "")
	if err != nil {
		t.Fatal(err)
	}
	_, createErr := Create(h, Options{})
	_, listErr := List(h)
	for what, err := range map[string]error{"create": createErr, "list": listErr} {
		if f := fault.From(err); f == nil || f.Type != fault.Internal || strings.Contains(f.Error(), file) || len(f.Suggestions) == 0 {
			t.Errorf("%s: %+v", what, f)
		}
	}
}
