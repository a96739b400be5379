package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pflow-suite/pflow/internal/golden"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/event/history"
	"github.com/pflow-suite/pflow/pkg/fault"
)

// stream is the stream of a run with most kinds of events.
func stream(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("testdata/failed.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// made returns the page of a stream.
func made(t interface{ Fatal(...any) }, stream string, o Options) string {
	h, err := history.Read(strings.NewReader(stream))
	if err != nil {
		t.Fatal(err)
	}
	var page bytes.Buffer
	if err := Write(&page, h, o); err != nil {
		t.Fatal(err)
	}
	return page.String()
}

// constant are the parts that all pages have in common.
var constant = regexp.MustCompile(`(?s)(<style>).*(</style>)|(<script>).*(</script>)|'sha256-[^']*'|&#39;sha256-.*?&#39;`)

func TestGolden(t *testing.T) {
	const goldenFile = "testdata/failed.html"
	got := constant.ReplaceAllString(made(t, stream(t), Options{}), "$1$2$3$4")
	golden.Compare(t, goldenFile, got)
}

func TestStatusIsSaid(t *testing.T) {
	const began = `{"v":1,"seq":1,"event":"run_started","run":"r1","time":"2026-01-01T00:00:00Z","workflow":{"name":"w","digest":"d"},"nodes":["a","b"]}` + "\n" +
		`{"v":1,"seq":2,"event":"node_started","node":"a","type":"shell","run":"r1","time":"2026-01-01T00:00:01Z","attempt":1}` + "\n"
	finished := func(status string) string {
		return began + `{"v":1,"seq":3,"event":"run_finished","run":"r1","time":"2026-01-01T00:00:02Z","status":"` + status + `"}` + "\n"
	}
	for name, c := range map[string]struct {
		stream string
		status event.Status
		want   []string
	}{
		"completed":   {finished("completed"), "", []string{"<title>Completed: w</title>"}},
		"timed out":   {finished("timed_out"), running, []string{"<title>Timed out: w</title>"}},
		"paused":      {finished("paused"), "", []string{"<title>Paused: w</title>", "It waits for a person’s answer."}},
		"denied":      {finished("denied"), "", []string{"<title>Denied: w</title>"}},
		"degraded":    {finished("degraded"), "", []string{"<title>Degraded: w</title>", "although something failed"}},
		"cancelled":   {finished("cancelled"), "", []string{"<title>Cancelled: w</title>"}},
		"a new one":   {finished("unheard_of"), "", []string{"<title>Unheard of: w</title>"}},
		"runs":        {began, running, []string{"<title>Running: w</title>", "1 Running", "1 Not started", ">not ended<"}},
		"interrupted": {began, interrupted, []string{"<title>Interrupted: w</title>", "1 Interrupted", "<code>pflow-exec resume r1</code>"}},
		"unknown":     {began, "", []string{"<title>Not finished: w</title>", "or was interrupted"}},
		"nothing":     {"", "", []string{"<title>Not finished: A run</title>"}},
		"refused": {
			`{"v":1,"seq":1,"event":"run_refused","run":"","time":"2026-01-01T00:00:00Z","success":false,"error":{"type":"validation_error","message":"2 errors","errors":[{"type":"validation_error","message":"one","file":"w.json","line":3,"column":4},{"type":"validation_error","message":"two","missing":["x","y"]}]}}` + "\n",
			"", []string{"<title>Refused: A run</title>", "Nothing ran.", "one", "w.json:3:4", "two", "<code>x, y</code>"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			page := made(t, c.stream, Options{Status: c.status})
			checkPage(t, page)
			for _, want := range c.want {
				if !strings.Contains(page, want) {
					t.Errorf("the page lacks %q", want)
				}
			}
		})
	}
}

// value returns a node's output as the page shows it.
func shownValue(t *testing.T, raw string, load event.Load) value {
	t.Helper()
	r := &writer{Options: Options{Load: load}, bytesLeft: maxLoad}
	return r.value(json.RawMessage(raw), &budget{left: 10_000})
}

func TestValues(t *testing.T) {
	blobs := map[string]string{"sha256:t": strings.Repeat("é", 100_000), "sha256:j": `{"$$a":[1,{"$blob":"sha256:t","bytes":200000,"mime":"text/plain","head":"ééé"}]}`, "sha256:s": "short"}
	load := func(ref string) ([]byte, error) {
		if b, ok := blobs[ref]; ok {
			return []byte(b), nil
		}
		return nil, fault.New(fault.NotFound, "gone")
	}
	for name, c := range map[string]struct {
		raw  string
		want value
	}{
		"text":         {`"a\nb"`, value{Text: "a\nb", Kind: "block"}},
		"one line":     {`"a"`, value{Text: "a", Kind: "plain"}},
		"nothing":      {`""`, value{Text: "empty", Kind: "none", Small: true}},
		"number":       {`1.50`, value{Text: "1.50", Kind: "plain", Small: true}},
		"short list":   {`[1, 2,{"a":3}]`, value{Text: `[1,2,{"a":3}]`, Kind: "plain"}},
		"bytes":        {`{"$base64":"AAECAwQF"}`, value{Text: "⟨6 bytes that are not text⟩", Kind: "plain"}},
		"own dollar":   {`{"$$blob":"x"}`, value{Text: "{\n  \"$blob\": \"x\"\n}", Kind: "block"}},
		"numbers":      {`[` + strings.Repeat("100, ", 20) + `"a"]`, value{Text: "[" + strings.Repeat("100, ", 20) + `"a"]`, Kind: "plain"}},
		"steering":     {`"\u001b[31m\u202e\r\nb\u0000\u200b"`, value{Text: "␛[31m⟨U+202E⟩\nb␀⟨U+200B⟩", Kind: "block"}},
		"long":         {`"` + strings.Repeat("x", 4001) + `"`, value{Text: strings.Repeat("x", 4000), Kind: "block", Note: "The beginning of 4 kB.", Tall: true}},
		"just as long": {`"` + strings.Repeat("x", 4000) + `"`, value{Text: strings.Repeat("x", 4000), Kind: "block", Tall: true}},
		"blob":         {`{"$blob":"sha256:t","bytes":200000,"mime":"text/plain","head":"ééé"}`, value{Text: strings.Repeat("é", 4000), Kind: "block", Note: "The beginning of 200 kB.", Tall: true}},
		"another blob": {`{"$blob":"sha256:gone","bytes":1234567,"mime":"text/plain","head":"one"}`, value{Text: "one", Kind: "block", Note: "The beginning of 1.2 MB."}},
		"a huge blob":  {`{"$blob":"sha256:s","bytes":104857600,"mime":"text/plain","head":"one"}`, value{Text: "one", Kind: "block", Note: "The beginning of 104.9 MB."}},
		"a torn blob":  {`{"$blob":"sha256:s","bytes":70000,"mime":"text/plain","head":"one"}`, value{Text: "one", Kind: "block", Note: "The beginning of 70 kB."}},
		"binary blob":  {`{"$blob":"sha256:s","bytes":70000,"mime":"application/octet-stream"}`, value{Text: "⟨70 kB that are not text⟩", Kind: "plain"}},
		"JSON blob elsewhere": {
			`{"$blob":"sha256:gone","bytes":70000,"mime":"application/json","head":"[1,2"}`, value{Text: "[1,2", Kind: "block", Note: "The beginning of 70 kB."},
		},
		"blob inside": {
			`{"list":[{"$blob":"sha256:gone","bytes":1234567,"mime":"text/plain","head":"o\"e"}]}`,
			value{Text: "{\n  \"list\": [\n    \"o\\\"e\"… ⟨1.2 MB in total⟩\n  ]\n}", Kind: "block"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(c.want, shownValue(t, c.raw, load)); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
	if v := shownValue(t, `{"$blob":"sha256:j","bytes":99,"mime":"application/json","head":"{"}`, load); !strings.HasPrefix(v.Text, "{\n  \"$a\": [\n    1,\n    \"ééé") || len(v.Text) > 3*maxValue {
		t.Errorf("%.60s", v.Text)
	}
}

func TestParametersHaveTheirValuesWhereTheyCanBeTold(t *testing.T) {
	page := made(t, stream(t), Options{})
	for want, is := range map[string]bool{
		"curl https://docs.example.org/<":   true,  // an input
		"publish --count 3 --said yes":      true,  // a field inside text that is JSON, and an answer
		"curl https://docs.example.org/a":   false, // differs from item to item
		"https://docs.example.org/state?n=": false, // from iteration to iteration
		"mail ":                             true,  // as it is written
		"mail <":                            false, // it did not run
	} {
		if got := strings.Contains(page, want); got != is {
			t.Errorf("%q: %v", want, got)
		}
	}
}

func TestObjectsWithManyMembersAreCut(t *testing.T) {
	r := &writer{}
	raw := json.RawMessage(`{"k":1` + strings.Repeat(`,"k":1`, 5000) + `}`)
	fields := r.fields(raw, &budget{left: 10})
	if last := fields[len(fields)-1]; len(fields) != maxFields+1 || last.Text != "the rest is not shown" {
		t.Errorf("%d fields, the last %+v", len(fields), last)
	}
}

func TestTicks(t *testing.T) {
	for whole, want := range map[time.Duration]string{
		946 * time.Millisecond: "0s 200ms 400ms 600ms 800ms", time.Second: "0s 200ms 400ms 600ms 800ms ", 61 * time.Second: "0s 20s 40s ", 5 * time.Minute: "0s 1m0s 2m0s 3m0s 4m0s ",
		3 * time.Hour: "0s 30m0s 1h0m0s 1h30m0s 2h0m0s 2h30m0s ", 1000 * time.Hour: "0s 166h40m0s 333h20m0s 500h0m0s 666h40m0s 833h20m0s", time.Nanosecond: "0s",
		1<<63 - 1: "0s 427007h57m53s 854015h55m46s 1281023h53m38s 1708031h51m31s 2135039h49m24s",
	} {
		var got []string
		for _, tick := range ticks(whole) {
			got = append(got, tick.Label)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, not %q", whole, strings.Join(got, " "), want)
		}
	}
}

func TestAWriterThatFailsIsSaid(t *testing.T) {
	h, err := history.Read(strings.NewReader(stream(t)))
	if err != nil {
		t.Fatal(err)
	}
	if err := Write(failing{}, h, Options{}); !errors.Is(err, errFull) {
		t.Error(err)
	}
}

var errFull = errors.New("full")

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errFull }
