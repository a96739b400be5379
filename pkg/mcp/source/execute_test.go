package source

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// read returns a file of a host's folder, or "".
func read(h Host, name string) string {
	text, _ := os.ReadFile(filepath.Join(h.Dir, name))
	return strings.TrimSpace(string(text))
}

func TestExecute(t *testing.T) {
	const begun, polled = `cat >in; echo '{"execution_id":7}'`, `cat >asked; echo '%s'`
	for _, c := range []struct {
		run, status string
		want        string // the result
		failed      string // a part of the message
	}{
		{`cat`, "", `{"arguments":{"x":1.0},"id":"w"}`, ""},
		{`echo nothing`, "", "", "printed no JSON"},
		{`echo why >&2; exit 9`, "", "", "exit status 9: why"},
		{begun, `{"status":"completed","result":[12345678901234567890]}`, `[12345678901234567890]`, ""},
		{begun, `{"status":"COMPLETED"}`, `null`, ""},
		{begun, `{"status":"failed","error":"it broke"}`, "", "it broke"},
		{begun, `{"status":"failed","error":{"message":"it is gone"}}`, "", "it is gone"},
		{begun, `{"status":"cancelled"}`, "", "cancelled"},
		{begun, `{"status":5}`, "", "printed no status"},
		{begun, `oops`, "", "printed no JSON"},
		{`echo '{"execution_id":""}'`, `{"status":"completed"}`, "", "no execution_id"},
		{`echo '{}'`, `{"status":"completed"}`, "", "no execution_id"},
	} {
		h, s := at(t), &Source{Name: "s", Run: sh(c.run)}
		h.Sleep = func(context.Context, time.Duration) {}
		if c.status != "" {
			s.Status = sh(fmt.Sprintf(polled, c.status))
		}
		result, id, err := s.Execute(t.Context(), h, "w", json.RawMessage(`{"x":1.0}`))
		if string(result) != c.want && c.failed == "" || (err != nil) != (c.failed != "") || err != nil && !strings.Contains(err.Error(), c.failed) {
			t.Errorf("%s, %s: %s, %v", c.run, c.status, result, err)
		}
		if c.run == begun && (id != "7" || read(h, "asked") != `{"execution_id":7,"id":"w"}`) {
			t.Errorf("%s: %q, %s", c.status, id, read(h, "asked"))
		}
	}
}

// The pauses between two calls of status grow, and a call that fails is repeated. What has not changed is not reported again.
func TestStatusIsAskedAgain(t *testing.T) {
	h := at(t)
	var pauses []time.Duration
	var reports []string
	h.Sleep = func(_ context.Context, d time.Duration) { pauses = append(pauses, d) }
	h.Progress = func(done, total float64, message string) {
		reports = append(reports, fmt.Sprint(done, "/", total, " ", message))
	}
	s := &Source{Name: "s", Run: sh(`echo '{"execution_id":"e"}'`), Status: sh(`echo x >>n; case $(wc -l <n) in
		1|2) echo '{"status":"running","progress":0.25}';; 3) exit 1;; 4) echo '{"status":"running","progress":50}';;
		5) echo '{"status":"running","progress":{"done":3,"total":4,"message":"almost"}}';;
		6) echo '{"status":"running","progress":{"done":4,"total":4,"message":"almost"}}';; 7) echo '{"status":"running","progress":"soon"}';; *) echo '{"status":"completed"}';; esac`)}
	if _, _, err := s.Execute(t.Context(), h, "w", json.RawMessage(`{}`)); err != nil {
		t.Fatal(err)
	}
	want := []string{"0.25/1 running: 0.25", "50/100 running: 50%", "3/4 running: almost", "4/4 running: almost", "0/0 running: soon"}
	if !slices.Equal(reports, want) {
		t.Errorf("%q", reports)
	}
	if len(pauses) != 8 || pauses[0] != firstPause || !slices.IsSorted(pauses) || pauses[7] <= pauses[0] {
		t.Error(pauses)
	}
	for range 20 {
		pauses = append(pauses, min(pauses[len(pauses)-1]*3/2, maxPause))
	}
	if pauses[len(pauses)-1] != maxPause {
		t.Error(pauses)
	}
}

// An execution that is cancelled is cancelled in the source, which learns its id even if that is printed only then.
func TestACancelledExecution(t *testing.T) {
	for name, s := range map[string]*Source{
		"followed": {Run: sh(`cat >/dev/null; echo '{"execution_id":"e"}'`), Status: sh(`touch ready; echo '{"status":"running"}'`), Cancel: sh(`cat >cancelled`)},
		"starting": {Run: sh(`touch ready; until [ -e stopped ]; do sleep 0.01; done; echo '{"execution_id":"e"}'`), Status: sh(`echo '{"status":"running"}'`), Cancel: sh(`cat >cancelled`)},
		"direct":   {Run: sh(`touch ready; sleep 60`), Cancel: sh(`cat >cancelled`)},
		"failing":  {Run: sh(`touch ready; sleep 60`), Cancel: sh(`echo cannot >&2; cat >cancelled; exit 1`)},
		"alone":    {Run: sh(`touch ready; sleep 60`)},
	} {
		t.Run(name, func(t *testing.T) {
			h := at(t)
			var stderr strings.Builder
			h.Stderr = &stderr
			s.Name = name
			ctx, cancel := context.WithCancelCause(t.Context())
			stopped := errors.New("stopped")
			go func() {
				for read(h, "ready") == "" {
					if _, err := os.Stat(filepath.Join(h.Dir, "ready")); err == nil {
						break
					}
					time.Sleep(time.Millisecond)
				}
				cancel(stopped)
				if err := os.WriteFile(filepath.Join(h.Dir, "stopped"), nil, 0o600); err != nil {
					t.Error(err)
				}
			}()
			if _, _, err := s.Execute(ctx, h, "w", json.RawMessage(`{}`)); !errors.Is(err, stopped) {
				t.Error(err)
			}
			want := map[string]string{"followed": `{"execution_id":"e","id":"w"}`, "starting": `{"execution_id":"e","id":"w"}`, "direct": `{"id":"w"}`, "failing": `{"id":"w"}`}[name]
			if got := read(h, "cancelled"); got != want {
				t.Errorf("cancel reads %q", got)
			}
			if name == "failing" && !strings.Contains(stderr.String(), "cannot") {
				t.Error(stderr.String())
			}
		})
	}
}

// Without the command status, progress is reported as not supported.
func TestProgressIsNotSupported(t *testing.T) {
	h := at(t)
	var said string
	h.Progress = func(_, _ float64, message string) { said = message }
	if _, _, err := (&Source{Name: "s", Run: sh(`echo 1`)}).Execute(t.Context(), h, "w", nil); err != nil || !strings.Contains(said, "not supported") {
		t.Error(said, err)
	}
}

func FuzzStatus(f *testing.F) {
	f.Add([]byte(`{"status":"running","progress":{"done":3,"total":4,"message":"almost"},"error":{"message":5}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s := &status{}
		if json.Unmarshal(data, s) != nil {
			return
		}
		done, total, message := s.progress()
		x := &execution{source: &Source{Name: "s"}, started: make(chan struct{})}
		if done < 0 || total < 0 || total > 0 && done > total || strings.ContainsRune(message, 0x1b) || x.failure(s).Type != fault.Execution {
			t.Errorf("%s: %v of %v, %q", data, done, total, message)
		}
	})
}
