package suite

import (
	"database/sql"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
	_ "modernc.org/sqlite"
)

const (
	// knownToken is the token that tests give a share, and knownJob the id that they give a job. Their own are random.
	knownToken = "AbcdEfgh1234"
	knownJob   = "job_AbcdEfgh12345678"
	masterKey  = "ENCRYPTION_KEY=000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
)

// openDatabase opens the database of pflow-share.
func (p *place) openDatabase() *sql.DB {
	p.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(p.home, "share.db")+"?_pragma=busy_timeout(20000)")
	if err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() { _ = db.Close() })
	return db
}

// database executes a statement in the database of pflow-share.
func (p *place) database(statement string, args ...any) {
	p.Helper()
	db := p.openDatabase()
	if _, err := db.Exec(statement, args...); err != nil {
		p.Fatal(err)
	}
	_ = db.Close()
}

// shared saves a workflow and shares it. It returns the token.
func (p *place) shared(name, workflow string) string {
	p.Helper()
	p.saved(name, workflow)
	return gjson.Get(p.must("pflow-share", "add", name, "--owner-funded"), "token").Str
}

// left returns how many runs of the shared workflow are left today.
func (p *place) left() int64 {
	p.Helper()
	return gjson.Get(p.must("pflow-share", "list"), "quota_remaining").Int()
}

const printsEnvironment = `{"inputs":{"who":{"type":"string"},"times":{"type":"integer","default":1}},"nodes":[{"id":"say","type":"shell",
	"params":{"command":"echo hello ${who} ${times} $${#A_TOKEN} $${#B_TOKEN}; env | cut -d= -f1 >names"}}],"outputs":{"said":{"source":"${say.stdout}"}}}`

func TestASharedRun(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	token := p.shared("greet", printsEnvironment)
	p.env = append(p.env, masterKey, "CRON_SECRET=cron-hunter22", "OTHER_TOKEN=other-hunter22", "B_TOKEN=b-hunter22")
	if o := p.fed("a-hunter22\n", "pflow-share", "keys", "set", "A_TOKEN", "-"); o.exit != 0 {
		t.Fatal(o)
	}
	started := p.document(p.fed(`{"token":"`+token+`","inputs":{"who":"Ada; $(id)","times":" 2 "}}`, "pflow-share", "run", "-").stdout)
	id, _ := started["run_id"].(string)
	if job, _ := started["job_id"].(string); !strings.HasPrefix(job, "job_") || len(job) != 20 || started["status"] != "started" || started["quota_remaining"] != 99.0 {
		t.Errorf("%v", started)
	}
	if got, want := gjson.Get(p.must("pflow-exec", "wait", id), "outputs.said").Str, "hello Ada; $(id) 2 10 0"; got != want {
		t.Errorf("%q, expected %q", got, want)
	}
	names := strings.Fields(p.read("names"))
	for _, name := range []string{"ENCRYPTION_KEY", "CRON_SECRET", "OTHER_TOKEN", "B_TOKEN"} {
		for _, has := range names {
			if has == name {
				t.Errorf("the run has %s", name)
			}
		}
	}
	p.checkNoText("hunter22")
	p.checkNoText(masterKey[len("ENCRYPTION_KEY="):])
	if got := p.last(p.must("pflow-share", "jobs")); got["job_id"] != started["job_id"] || got["status"] != "completed" || got["run_id"] != id {
		t.Errorf("%v", got)
	}
	run := p.last(p.must("pflow-exec", "events", id, "--inline"))
	if run["status"] != "completed" {
		t.Errorf("%v", run)
	}
}

func TestWhatASharedRunIsRefusedFor(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	token := p.shared("greet", printsEnvironment)
	p.draft("drafted", printsEnvironment)
	unfunded := gjson.Get(p.must("pflow-share", "add", "greet"), "token").Str
	for _, c := range []struct{ stdin, kind, message string }{
		{`{}`, "validation_error", "Token must be a string"},
		{`{"token":"short"}`, "validation_error", "Invalid token format. Expected 12 alphanumeric characters."},
		{`{"token":"AAAAAAAAAAAA"}`, "not_found", "Flow not found or not accessible: no flow is shared with this token"},
		{`{"token":"` + unfunded + `","inputs":{"who":"Ada"}}`, "validation_error", "This flow requires owner-funded execution to be enabled. The flow owner must enable 'Use Owner Keys' in the share settings."},
		{`{"token":"` + token + `","inputs":{"who":7}}`, "validation_error", `Input value for "who" must be a string`},
		{`{"token":"` + token + `","inputs":{"who":"Ada","times":"few"}}`, "validation_error", ""},
		{`{"token":"` + token + `","inputs":{"whp":"Ada"}}`, "validation_error", ""},
		{`{"token":"` + token + `"}`, "template_error", ""},
		{`{"token":"` + token + `","inputs":{"who":"Ada","who":"Eve"}}`, "validation_error", ""},
		{`{"token":"AAAAAAAAAAAA","token":"` + token + `"}`, "validation_error", ""},
	} {
		o := p.fed(c.stdin, "pflow-share", "run", "-")
		got := gjson.Get(o.stdout, "error")
		if o.exit != 2 || got.Get("type").Str != c.kind || c.message != "" && got.Get("message").Str != c.message {
			t.Errorf("%s: %s", c.stdin, o)
		}
	}
	if o := p.run("pflow-share", "admit", unfunded); o.exit != 2 || gjson.Get(o.stdout, "error.type").Str != "validation_error" {
		t.Errorf("admit without --owner-funded: %s", o)
	}
	if o := p.run("pflow-share", "add", "drafted"); o.exit != 2 || gjson.Get(o.stdout, "error.type").Str != "not_found" {
		t.Errorf("a draft: %s", o)
	}
	p.env = append(p.env, masterKey)
	p.fed("hunter22", "pflow-share", "keys", "set", "A_TOKEN", "-")
	for _, master := range []string{"", "ff", strings.Repeat("f", 64)} {
		p.env = append(p.env, "ENCRYPTION_KEY="+master)
		o := p.run("pflow-share", "run", token, "who=Ada")
		message := gjson.Get(o.stdout, "error.message").Str
		if o.exit != 1 || len(master) < 64 && message != "Server configuration error: encryption key not set" || !strings.HasPrefix(message, "Server configuration error: ") {
			t.Errorf("%q: %s", master, o)
		}
	}
	p.env = append(p.env, masterKey)
	if err := os.RemoveAll(filepath.Join(p.home, "runs")); err != nil {
		t.Fatal(err)
	}
	p.write("home/runs", "in the way of the runs")
	if o := p.run("pflow-share", "run", token, "who=Ada"); o.exit != 1 {
		t.Errorf("a home without runs: %s", o)
	}
	if n := p.left(); n != 100 {
		t.Errorf("%d runs are left: what was refused, or could not be created, was counted", n)
	}
}

// TestSharedRunsByRequests holds that run --requests answers each line as run answers it alone, counts as exactly, and ends with its input.
func TestSharedRunsByRequests(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	token := p.shared("greet", printsEnvironment)
	var lines strings.Builder
	for range 20 {
		_, _ = fmt.Fprintf(&lines, `{"id":"many","arguments":{"token":"%s","inputs":{"who":"Ada"}}}`+"\n", token)
	}
	for i, arguments := range []string{
		`{}`, `{"token":"AAAAAAAAAAAA"}`, `{"token":"` + token + `","inputs":{"who":"Ada","times":"few"}}`, `{"token":"` + token + `","inputs":{"who":"Ada","who":"Eve"}}`,
	} {
		_, _ = fmt.Fprintf(&lines, `{"id":%d,"arguments":%s}`+"\n", i, arguments)
	}
	o := p.fed(lines.String()+`{"id":{"any":[null]},"arguments":{"token":7}}`, "pflow-share", "run", "--requests")
	if o.exit != 0 {
		t.Fatal(o)
	}
	started, answers := map[string]bool{}, map[string]string{}
	for line := range strings.Lines(o.stdout) {
		document := gjson.Get(line, "document")
		answer := fmt.Sprint(gjson.Get(line, "exit"), " ", document.Get("error.type"))
		if id := gjson.Get(line, "id"); id.Str != "many" {
			answers[id.Raw] = answer
		} else if job := document.Get("job_id").Str; job != "" && answer == "0 " {
			started[job] = true
		} else if answer != "1 rate_limited" {
			t.Error(line)
		}
	}
	want := map[string]string{"0": "2 validation_error", "1": "2 not_found", "2": "2 validation_error", "3": "2 validation_error", `{"any":[null]}`: "2 validation_error"}
	if len(started) != 10 || p.left() != 90 || !maps.Equal(answers, want) {
		t.Errorf("%d runs started, %d are left, %v", len(started), p.left(), answers)
	}
	p.eventually("the runs have ended", func() bool { return !strings.Contains(p.must("pflow-exec", "list"), `"running"`) })
	for _, job := range p.events(p.must("pflow-share", "jobs")) {
		if id, _ := job["job_id"].(string); !started[id] || job["status"] != "completed" {
			t.Errorf("%v", job)
		}
	}
	for _, bad := range []string{"[]", "{", `{"id":1}`, `{"arguments":{}}`, `{"id":1,"arguments":[]}`} {
		if o := p.fed(bad+"\n", "pflow-share", "run", "--requests"); o.exit != 2 || gjson.Get(o.stdout, "error.type").Str != "usage_error" {
			t.Errorf("%s: %s", bad, o)
		}
	}
}

// Of 20 processes at the same time, one takes the last place of a token's minute.
func TestParallelProcessesTakeTheLastPlaceOnce(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	token := p.shared("greet", chain("echo hello"))
	for range 9 {
		p.must("pflow-share", "admit", token)
	}
	outcomes := make(chan outcome)
	for range 20 {
		go func() { outcomes <- p.run("pflow-share", "run", token) }()
	}
	passed := 0
	for range 20 {
		o := <-outcomes
		wait := gjson.Get(o.stdout, "error.details.retry_after_ms").Int()
		switch {
		case o.exit == 0:
			passed++
		case gjson.Get(o.stdout, "error.type").Str != "rate_limited" || wait < 1 || wait > 60_000:
			t.Error(o)
		}
	}
	if passed != 1 || p.left() != 90 {
		t.Errorf("%d passed, %d are left", passed, p.left())
	}
	p.waitsFor("last", "completed")
}

// A process that is killed while it starts a run loses no run and counts none twice.
func TestKillsWhileSharedRunsStart(t *testing.T) {
	t.Parallel()
	needsLinux(t, "the program that is started ends with its parent on Linux only")
	p := newPlace(t)
	token := p.shared("greet", chain("echo hello"))
	db := p.openDatabase()
	counted := func() (n int) {
		if err := db.QueryRow("SELECT count(*) FROM admissions").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	for i := range 6 {
		cmd := p.command("pflow-share", "run", token)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		p.eventually("the run is counted", func() bool { return counted() > i })
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	p.eventually("the runs have ended", func() bool { return len(processes("PFLOW_HOME="+p.home)) == 0 })
	jobs := p.events(p.must("pflow-share", "jobs"))
	if n := int64(len(jobs)); p.left() != 100-n {
		t.Errorf("%d jobs, %d runs left", n, p.left())
	}
	runs := map[any]bool{}
	for _, job := range jobs {
		if id := job["run_id"]; id != nil {
			runs[id] = true
		}
	}
	if len(runs) != len(p.journals()) {
		t.Errorf("%d runs, %d of them have a job", len(p.journals()), len(runs))
	}
	// A minute later, the jobs without a run count no more.
	p.database("UPDATE jobs SET created_at = created_at - 60000")
	p.must("pflow-share", "cleanup")
	if n := len(p.journals()); p.left() != int64(100-n) || len(p.events(p.must("pflow-share", "jobs"))) != n {
		t.Errorf("%d runs, %d runs left", n, p.left())
	}
}

func TestADamagedDatabaseAdmitsNothing(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	token := p.shared("greet", chain("echo hello"))
	whole := p.read("home/share.db")
	for name, content := range map[string]string{
		"text": strings.Repeat("no database", 1000), "in the middle": whole[:4096] + strings.Repeat("\xa5", len(whole)-4096), "newer": "",
	} {
		path := filepath.Join(p.home, "share.db")
		if content == "" {
			_ = os.Remove(path)
			p.must("pflow-share", "add", "greet")
			p.database("PRAGMA user_version = 99")
		} else {
			p.write("home/share.db", content)
		}
		before := p.read("home/share.db")
		for _, line := range []string{"run " + token, "admit " + token, "list", "jobs", "add greet", "cleanup", "keys list"} {
			o := p.run("pflow-share", strings.Fields(line)...)
			e := gjson.Get(o.stdout, "error")
			if strings.HasSuffix(line, token) {
				if e.Get("type").Str != "unavailable" || e.Get("message").Str != "Rate limit check unavailable. Please try again." {
					t.Errorf("%s: %s: %s", name, line, o)
				}
				e = e.Get("errors.0")
			}
			if o.exit != 1 || e.Get("type").Str != "unavailable" || e.Get("file").Str != "share.db" {
				t.Errorf("%s: %s: %s", name, line, o)
			}
		}
		if p.read("home/share.db") != before {
			t.Errorf("%s: the file was changed", name)
		}
		if runs := p.journals(); len(runs) > 0 {
			t.Errorf("%s: %s", name, fmt.Sprint(runs))
		}
	}
}

// TestASharedWorkflowThatIsGone: a share whose workflow was removed or broken shows its callers nothing of the library, and counts nothing.
func TestASharedWorkflowThatIsGone(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.saved("private-neighbour", chain("true"))
	token := p.shared("private-name", chain("true"))
	path := filepath.Join(p.home, "library", "private-name.json")
	for name, tc := range map[string]struct {
		spoil func() error
		kind  string
	}{
		"removed": {func() error { return os.Rename(path, path+".old") }, "not_found"},
		"no JSON": {func() error { return os.WriteFile(path, []byte(`{"nodes": private-text`), 0o600) }, "validation_error"},
		"invalid": {func() error { return os.WriteFile(path, []byte(`{"nodes":[{"id":"a","type":"private-type"}]}`), 0o600) }, "validation_error"},
	} {
		if err := tc.spoil(); err != nil {
			t.Fatal(err)
		}
		for _, command := range []string{"show", "run", "admit"} {
			if name == "invalid" && command != "run" {
				continue // it can be described, and whoever starts an admitted run sees what is wrong
			}
			o := p.run("pflow-share", "--hints", "tools", command, token)
			e := gjson.Get(o.stdout, "error")
			if o.exit != 2 || e.Get("type").Str != tc.kind || !strings.HasPrefix(e.Get("message").Str, "Flow not found or not accessible: ") || strings.Contains(o.stdout+o.stderr, "private-") {
				t.Errorf("%s, %s: %s", name, command, o)
			}
		}
		if n := p.left(); n != 100 {
			t.Errorf("%s: %d runs are left", name, n)
		}
	}
}
