package suite

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/internal/fakeprograms"
)

// job starts a shared run and waits for its end. It returns the id of the job.
func (p *place) job(token string, inputs ...string) string {
	p.Helper()
	started := p.must("pflow-share", append([]string{"run", token}, inputs...)...)
	p.run("pflow-exec", "wait", gjson.Get(started, "run_id").Str)
	return gjson.Get(started, "job_id").Str
}

const manyOutputs = `{"inputs":{"n":{"type":"integer","default":3},"fail":{"default":"no"}},"nodes":[
	{"id":"image","type":"shell","params":{"command":"printf '{\"type\":\"image\",\"value\":\"AAEC/w==\"}'"}},
	{"id":"long","type":"shell","params":{"command":"head -c \"${n}\" /dev/zero | tr '\\0' x"}},
	{"id":"last","type":"shell","params":{"command":"test \"${fail}\" = no"}}],
	"outputs":{"My \"Image\"/1":{"source":"${image.stdout}"},"text":{"source":"${long.stdout}"},"last":{"source":"${last.stdout}"}}}`

func TestJobs(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	token := p.shared("many", manyOutputs)
	p.env = append(p.env, "NEXT_PUBLIC_SITE_URL=https://example.com/")

	t.Run("completed", func(t *testing.T) {
		id := p.job(token)
		got := gjson.Parse(p.must("pflow-share", "job", id))
		if got.Get("status").Str != "completed" || got.Get("message").Str != "Flow completed successfully! The outputs field contains the results." ||
			got.Get("started_at").Str == "" || got.Get("completed_at").Str == "" || got.Get("errors").Exists() {
			t.Error(got)
		}
		image := got.Get(`outputs.My "Image"/1`)
		if want := "https://example.com/api/mcp/outputs/" + id + "/My%20%22Image%22%2F1"; image.Get("uri").Str != want || image.Get("size_bytes").Int() != 4 || image.Get("mimeType").Str != "image/png" {
			t.Error(image)
		}
		if text := got.Get("outputs.text"); text.Get("type").Str != "text" || text.Get("value").Str != "xxx" {
			t.Error(text)
		}
		if other := p.fed(`{"job_id":"`+id+`","token":"`+token+`"}`, "pflow-share", "job", "-"); strings.TrimSpace(other.stdout) != strings.TrimSpace(got.Raw) {
			t.Error(other)
		}
		for _, arguments := range []string{`{"job_id":"` + id + `","token":"AAAAAAAAAAAA"}`, `{"job_id":"job_0000000000000000"}`} {
			o := p.fed(arguments, "pflow-share", "job", "-")
			if want := "Job not found: " + gjson.Get(arguments, "job_id").Str + ". Jobs expire after 1 hour."; o.exit != 2 || gjson.Get(o.stdout, "error.message").Str != want {
				t.Errorf("%s: %s", arguments, o)
			}
		}
		header, content, _ := strings.Cut(p.must("pflow-share", "output", "--header", id, `My "Image"/1`), "\n")
		sum := sha256.Sum256([]byte("\x00\x01\x02\xff"))
		if content != "\x00\x01\x02\xff" || gjson.Get(header, "size_bytes").Int() != 4 || gjson.Get(header, "sha256").Str != hex.EncodeToString(sum[:]) || gjson.Get(header, "mimeType").Str != "image/png" {
			t.Errorf("%s %q", header, content)
		}
		if got := p.must("pflow-share", "output", id, "text"); got != "xxx" {
			t.Errorf("%q", got)
		}
		o := p.run("pflow-share", "output", id, "../text")
		if e := gjson.Get(o.stdout, "error"); e.Get("type").Str != "not_found" || e.Get("details.http_status").Int() != 404 || e.Get("available.#").Int() != 3 {
			t.Error(o)
		}
	})

	t.Run("failed", func(t *testing.T) {
		id := p.job(token, "fail=yes", "n=2001")
		got := gjson.Parse(p.must("pflow-share", "job", id))
		if got.Get("status").Str != "failed" || got.Get("message").Str != "Flow execution failed. Check the errors field for details." ||
			!got.Get("errors.last").Exists() || got.Get("errors.#").Int() > 1 || got.Get("outputs.last").Exists() {
			t.Error(got)
		}
		if text := got.Get("outputs.text"); text.Get("type").Str != "resource_link" || text.Get("size_bytes").Int() != 2001 || text.Get("description").Str != "Text output (2001 chars)" {
			t.Error(text)
		}
		if got := p.must("pflow-share", "output", id, "text"); got != strings.Repeat("x", 2001) {
			t.Errorf("%d bytes", len(got))
		}
	})

	t.Run("too long", func(t *testing.T) {
		id := p.job(token, "n=10000000") // and 4 of the image
		got := gjson.Parse(p.must("pflow-share", "job", id))
		if got.Get("status").Str != "failed" || got.Get("errors._error").Str != "Output size (10.1MB) exceeds maximum allowed (10MB)" || got.Get("outputs").Exists() {
			t.Error(got)
		}
		if o := p.run("pflow-share", "output", id, "text"); gjson.Get(o.stdout, "error.details.http_status").Int() != 404 {
			t.Error(o)
		}
	})
}

func TestWhenJobsEnd(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	status := func(id string) gjson.Result { return gjson.Parse(p.run("pflow-share", "job", id).stdout) }

	asks := p.shared("asks", `{"nodes":[{"id":"drop","type":"shell","approval":true,"params":{"command":"echo dropped"}}],"outputs":{"said":{"source":"${drop.stdout}"}}}`)
	paused, answered := p.job(asks), p.job(asks)
	if got := status(paused); got.Get("status").Str != "running" || got.Get("outputs").Exists() {
		t.Errorf("paused: %s", got)
	}
	if o := p.run("pflow-share", "output", paused, "said"); gjson.Get(o.stdout, "error.message").Str != "Job is running. Outputs are only available for completed jobs." ||
		gjson.Get(o.stdout, "error.details.http_status").Int() != 400 {
		t.Error(o)
	}
	p.must("pflow-exec", "resume", "last", "--approve", "yes", "--format", "json")
	if got := status(answered); got.Get("status").Str != "completed" || got.Get("outputs.said.value").Str != "dropped" {
		t.Errorf("answered in a later run: %s", got)
	}
	p.database("UPDATE jobs SET created_at = created_at - 300000")
	if got := status(paused); got.Get("status").Str != "failed" || got.Get("errors._error").Str != "Execution timed out after 300 seconds" {
		t.Errorf("paused for 5 minutes: %s", got)
	}

	waits := p.shared("waits", `{"nodes":[{"id":"wait","type":"shell","params":{"command":"while :; do :; done"}}]}`)
	started := p.must("pflow-share", "run", waits)
	running, run := gjson.Get(started, "job_id").Str, gjson.Get(started, "run_id").Str
	if got := status(running); got.Get("status").Str != "running" || got.Get("message").Str != "Flow is still executing. Call get_run_status again in 2-3 seconds to check progress." {
		t.Errorf("running: %s", got)
	}
	p.must("pflow-exec", "cancel", run)
	if got := status(running); got.Get("status").Str != "failed" || !got.Get("errors._error").Exists() {
		t.Errorf("cancelled: %s", got)
	}

	p.database("UPDATE jobs SET created_at = created_at - 3600000 WHERE id = ?", answered)
	if got := status(answered); got.Get("error.type").Str != "not_found" {
		t.Errorf("after an hour: %s", got)
	}
	if got := gjson.Get(p.must("pflow-share", "cleanup"), "deleted").Int(); got != 1 {
		t.Errorf("%d jobs were deleted", got)
	}
	if n := len(p.journals()); n != 4 {
		t.Errorf("%d runs", n)
	}
	p.must("pflow-exec", "gc", "--keep", "0", "--older-than", "0")
	if got := status(running); got.Get("error.type").Str != "not_found" {
		t.Errorf("without its run: %s", got)
	}
	if got := p.must("pflow-share", "jobs"); got != "" {
		t.Errorf("jobs without runs: %s", got)
	}
}

// A caller learns nothing of the workflow's file from its faults.
func TestFaultsForCallersDoNotShowTheFile(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	token := p.shared("broken", fmt.Sprintf(`{"nodes":[{"id":"a","type":"shell","params":{"command":"echo %s","nonsense":1}}]}`, "internal-detail"))
	o := p.run("pflow-share", "run", token)
	if o.exit != 2 || gjson.Get(o.stdout, "error.type").Str != "validation_error" || strings.Contains(o.stdout, "internal-detail") || p.left() != 100 {
		t.Error(o)
	}
}

// TestASharedRunEndsAtItsLimit holds that a run ends with its processes when its 5 minutes are over, which a program between pflow-share and
// pflow-exec shortens.
func TestASharedRunEndsAtItsLimit(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	token := p.shared("slow", `{"nodes":[{"id":"a","type":"shell","params":{"command":"echo some; sleep 1000"}}],"outputs":{"said":{"source":"${a.stdout}"}}}`)
	folder := t.TempDir()
	if err := os.Link(filepath.Join(bin, "pflow-share"), filepath.Join(folder, "pflow-share")); err != nil {
		t.Fatal(err)
	}
	short := "#!/bin/sh\nfor a; do shift; [ \"$a\" != --timeout=300 ] || a=--timeout=0.3; set -- \"$@\" \"$a\"; done\nexec " + filepath.Join(bin, "pflow-exec") + " \"$@\"\n"
	fakeprograms.Write(t, filepath.Join(folder, "pflow-exec"), short)
	cmd := p.command("pflow-share", "run", token)
	cmd.Path = filepath.Join(folder, "pflow-share")
	started, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	job := gjson.GetBytes(started, "job_id").Str
	var got gjson.Result
	p.eventually("the job has ended", func() bool {
		got = gjson.Parse(p.must("pflow-share", "job", job))
		return got.Get("status").Str != "running" && got.Get("status").Str != "pending"
	})
	if got.Get("status").Str != "failed" || got.Get("errors._error").Str != "Execution timed out after 300 seconds" {
		t.Errorf("%s", got)
	}
	p.eventually("the run's processes have ended", func() bool { return len(processes("PFLOW_HOME="+p.home)) == 0 }) // the last one after the event
}
