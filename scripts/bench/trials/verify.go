package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// event has the fields of a journal's line, and of a command's answer, that are checked. raw is the line.
type event struct {
	raw                      string
	Event, Run, Node, Status string
	Seq, Iteration           int
	RunID                    string `json:"run_id"`
	FirstRun                 string `json:"first_run"`
	FromRun                  string `json:"from_run"`
	Item                     *int
	Handled                  bool
	Error                    struct {
		Type, Message string
		Suggestions   []string
	}
	Outputs map[string]json.RawMessage
}

// completes returns the key of the node, item or iteration that an event completes, or "".
func (e *event) completes() string {
	switch {
	case e.FromRun != "":
	case e.Event == "node_completed", e.Event == "node_failed" && e.Handled && e.Item == nil:
		return e.Node
	case e.Event == "item_completed" && e.Item != nil:
		return fmt.Sprintf("%s[%d]", e.Node, *e.Item)
	case e.Event == "iteration_completed":
		return fmt.Sprintf("%s#%d", e.Node, e.Iteration)
	}
	return ""
}

// events reads the whole lines of a text, up to one that is not an event.
func events(text string) (all []event) {
	for line := range strings.Lines(text[:strings.LastIndexByte(text, '\n')+1]) {
		e := event{raw: line}
		if json.Unmarshal([]byte(line), &e) != nil {
			break
		}
		all = append(all, e)
	}
	return all
}

// journal is the journal of a run that no process executes. chain is the first of the runs that go on from one another to this one.
type journal struct {
	text, chain, status string
	events              []event
}

// journal reads a run's journal, whose last line may be incomplete.
func (t *trial) journal(id string) journal {
	j := journal{chain: id, status: "interrupted"}
	for _, file := range got(filepath.Glob(filepath.Join(t.dir, "*", "runs", id, "journal.ndjson"))) {
		text := read(file)
		j.text = text[:strings.LastIndexByte(text, '\n')+1]
	}
	j.events = events(j.text)
	t.check(len(j.events) > 0 && len(j.events) == strings.Count(j.text, "\n"), "", "only %d lines of the journal of %s are events", len(j.events), id)
	for i, e := range j.events {
		t.check(e.Seq == i+1 && e.Run == id && (e.Event == "run_started") == (i == 0) && j.status == "interrupted", "", "line %d of the journal of %s is %s", i+1, id, e.raw)
		if i == 0 && e.FirstRun != "" {
			j.chain = e.FirstRun
		} else if e.Event == "run_finished" {
			j.status = e.Status
		}
	}
	return j
}

// verify checks everything that the trial left, after all has ended. The calls show the end of a run.
func (t *trial) verify(ends ...*call) {
	ids, journals := t.runs(), map[string]journal{}
	done := map[string]int{} // the run in which each key was completed
	for i, id := range ids {
		j := t.journal(id)
		journals[id] = j
		for _, e := range j.events {
			key := j.chain + " " + e.completes()
			first, twice := done[key]
			t.check(!twice || e.completes() == "" || j.chain == t.unsure, "repeated", "%s completed in run %d and again in %s", key, first, id)
			if !twice {
				done[key] = i
			}
		}
	}
	t.verifyMarks(ids, journals, done)
	for _, c := range t.calls {
		if c.line[0] == "pflow-exec" {
			t.verifyCopies(c.stdout, c.done(), journals)
		}
	}
	t.verifyCopies(filepath.Join(t.dir, "run.ndjson"), true, journals)
	for _, last := range ends {
		end := last.last()
		t.check(end.Event == "run_finished" && end.Status == t.status && journals[end.Run].status == t.status, "", "the run does not end %s: %s", t.status, last)
		for name, want := range t.want {
			t.check(string(end.Outputs[name]) == want, "", "the output %s is %s, want %s", name, end.Outputs[name], want)
		}
		for _, folder := range []string{"", "*"} { // the names of temporary files begin with a dot and have a digit
			files, _ := filepath.Glob(filepath.Join(t.home, "runs", end.Run, folder, ".*[0-9]*"))
			t.check(files == nil, "left", "a run that was not killed has left %q", files)
		}
	}
	listed := events(read(t.call("pflow-exec", "list", "--format", "ndjson").stdout))
	here, _ := filepath.Glob(filepath.Join(t.home, "runs", "r*"))
	t.check(len(listed) == len(here), "", "list shows %d runs, want %d", len(listed), len(here))
	for _, e := range listed {
		t.check(e.Status == journals[e.RunID].status, "", "list shows %s", e.raw)
	}
	t.gone(time.Now().Add(enough), t.ours)
	t.verifyNoSecret()
}

// verifyCopies checks that what a file says of runs is the beginning of their journals. With whole it has all of the last one.
func (t *trial) verifyCopies(file string, whole bool, journals map[string]journal) {
	texts, last := map[string]string{}, ""
	for _, e := range events(read(file)) {
		if e.Seq > 0 && e.Run != "" { // one that was refused has none
			last = e.Run
			texts[last] += e.raw
		}
	}
	for id, text := range texts {
		t.check(strings.HasPrefix(journals[id].text, text) && (!whole || id != last || text == journals[id].text), "", "%s is not the journal of %s", file, id)
	}
}

// verifyMarks checks that everything ran, that nothing ran again after it was completed, and that each node, item and iteration had a key of
// its own, the same in all runs of a chain.
func (t *trial) verifyMarks(ids []string, journals map[string]journal, done map[string]int) {
	ran, newest, keys, owner := map[string]int{}, map[string]int{}, map[string]string{}, map[string]string{}
	for line := range strings.Lines(read(t.marked)) {
		f := strings.Fields(line)
		if len(f) != 4 || !strings.HasSuffix(line, "\n") || journals[f[0]].text == "" {
			t.check(false, "", "a mark is incomplete, or its run has no journal: %q", line)
			continue
		}
		what, chain, in := f[1], journals[f[0]].chain, slices.Index(ids, f[0])
		key, attempt := chain+" "+what, f[0]+" "+what+", attempt "+f[2]
		ran[key]++
		ran[attempt]++
		t.check(ran[attempt] <= t.marks[what], "", "%s left %d marks, want %d", attempt, ran[attempt], t.marks[what])
		for end := range len(key) + 1 { // a node that contains it counts too
			if end == len(key) || strings.ContainsRune("/[#", rune(key[end])) {
				first, is := done[key[:end]]
				t.check(!is || in <= first || chain == t.unsure, "repeated", "%s ran in %s although %s was completed in run %d", key, f[0], key[:end], first)
			}
		}
		t.check(in >= newest[chain], "", "%s of %s was still running when another run had begun", what, f[0])
		newest[chain] = max(newest[chain], in)
		t.count["keys"] += min(ran[key]-1, 1)
		t.check((keys[key] == "" || keys[key] == f[3]) && (owner[f[3]] == "" || owner[f[3]] == key), "changed", "%s had the node key %q, and has %s, which is that of %q", key, keys[key], f[3], owner[f[3]])
		keys[key], owner[f[3]] = f[3], key
	}
	for _, j := range journals {
		for what, want := range t.marks {
			n := ran[j.chain+" "+what]
			t.check(j.chain != t.unsure || n <= want*(1+t.count["kills"]), "repeated", "%s ran %d times with %d kills", what, n, t.count["kills"])
			t.check(n >= want || j.status != "completed" && j.status != "degraded", "", "%s %s left %d marks, want %d", j.chain, what, n, want)
		}
	}
}

// secret returns a random secret. Every third character of an awkward one has another form in JSON, in a URL or in an alphabet of base64.
func (t *trial) secret(awkward bool) string {
	const plain, special = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789", `"\/+&<>%~?=`
	b := make([]byte, 24)
	for i := range b {
		if b[i] = plain[t.rng.IntN(len(plain))]; awkward && i%3 == 1 {
			b[i] = special[t.rng.IntN(len(special))]
		}
	}
	t.secrets = append(t.secrets, string(b))
	return string(b)
}

func percent(s string) string { return strings.ReplaceAll(fmt.Sprintf("% x", "\x00"+s)[2:], " ", "%") }

// verifyNoSecret searches all outputs and the home for halves of the secrets in all their forms, so that one that was cut is found.
func (t *trial) verifyNoSecret() {
	const found = "<HALF OF A SECRET>"
	var halves []string
	inside := func(s string) string { return strings.Trim(asJSON(s), `"`) }
	for _, s := range t.secrets {
		forms := []string{s, inside(s), inside(inside(s)), url.QueryEscape(s), url.PathEscape(s), percent(s)}
		for skip := range 3 { // other bytes may stand before it
			whole := []byte(s[skip:])[:(24-skip)/3*3]
			forms = append(forms, base64.StdEncoding.EncodeToString(whole), base64.URLEncoding.EncodeToString(whole))
		}
		for _, form := range forms {
			halves = append(halves, form[:len(form)/2], found, form[len(form)/2:], found)
		}
	}
	secret := strings.NewReplacer(halves...)
	unbroken := strings.NewReplacer("\r\n", "", "\n", "", `\r\n`, "", `\n`, "", `\\n`, "") // without the line breaks of base64
	look := func(where, text string) {
		for _, text := range []string{secret.Replace(text), secret.Replace(unbroken.Replace(text))} {
			i := strings.Index(text, found)
			t.check(i < 0, "found", "%s has %s", where, text[max(0, i-150):min(len(text), max(0, i)+80)])
		}
	}
	for _, c := range t.calls {
		look("the output of "+strings.Join(c.line, " "), read(c.stdout)+read(c.stderr))
	}
	must(filepath.WalkDir(t.home, func(path string, entry fs.DirEntry, err error) error {
		if look("the name of "+path, filepath.Base(path)); err == nil && entry.Type().IsRegular() {
			look(path, read(path))
		}
		return err
	}))
}
