package veloflux

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// Arguments that are meant to take long. The time is not asserted, but a test that takes minutes is noticed.
func TestHostileArguments(t *testing.T) {
	const size = 1 << 20
	for _, text := range []string{
		strings.Repeat("//a", size/3) + "@", strings.Repeat("/", size) + "@", strings.Repeat("?", size) + "=", strings.Repeat("?a=", size/3),
		"[" + strings.Repeat("a ", size/2), "{" + strings.Repeat("a", size), strings.Repeat("%2F%2F", size/6), strings.Repeat("…", size/3), strings.Repeat("tcp://u:p@h,", size/12),
	} {
		traced(t, SQLRaw, `{"a":`+string(rawjson.Quote(text))+`,"password":"aaaaaaaaaaaaaaaaaaaa"}`, &Error{Message: text})
	}
	traced(t, SQLRaw, strings.Repeat(`{"a":`, 9000)+"1"+strings.Repeat("}", 9000), nil)
	traced(t, SQLHash, strings.Repeat(`{"sql":`, 9000)+"1"+strings.Repeat("}", 9000), nil)
	long := strings.Repeat("a", size)
	traced(t, SQLHash, `{"sql":"`+long+`","password":"`+long+`"}`, &Error{Message: long + "…", Details: map[string]any{"response": long}})
}

func FuzzTraceLine(f *testing.F) {
	for _, seed := range []string{
		``, `{}`, `null`, `[1]`, `{"sql":"SELECT '§'","id":"§"}`, `{"a":"tcp://u:§@h","sinks":"[{\"password\":\"§\"}]"}`, `{"password":["§"]} `,
		`{"a":"§`, "\xff§", `{"§":{"sql":{"a":"§"}}}`, `{"uri":"veloFlux://§@x?token=§&x=%2F%2F§%40"}`, `"\"\\\"§\\\"\""`, `{"a":"\ud800§…"}`,
	} {
		f.Add([]byte(seed), "no §", uint8(0))
		f.Add([]byte(seed), "§…", uint8(1))
		f.Add([]byte(seed), "", uint8(2))
	}
	const planted = "Zq7planted9X"
	f.Fuzz(func(t *testing.T, args []byte, message string, mode uint8) {
		plant := func(s string) string { return strings.ReplaceAll(s, "§", planted) }
		modes := []SQLMode{SQLRaw, SQLHash, SQLRedact}
		var out bytes.Buffer
		tr := newTracer(WriterSink(&out), modes[int(mode)%3], allTools(), func() []string { return []string{planted} }, func(err error) { t.Error(err) })
		given := []byte(plant(string(args)))
		failure := &Error{Code: CodePlanner, Message: plant(message), Details: map[string]any{"response": plant(message)}}
		tr.record(KindToolCall, plant(message), given, time.Now(), false, failure)

		tr.secrets = nil // what the arguments say themselves must do
		if json.Valid(args) {
			given = []byte(`{"password":"` + planted + `","x":` + string(given) + "}")
			tr.record(KindToolCall, plant(message), given, time.Now(), false, failure)
		}
		for line := range strings.Lines(out.String()) {
			checkTraceLine(t, line, planted)
		}
	})
}

func checkTraceLine(t *testing.T, line, planted string) {
	t.Helper()
	var e map[string]any
	d := json.NewDecoder(strings.NewReader(line))
	d.UseNumber()
	if err := d.Decode(&e); err != nil || !json.Valid([]byte(line)) || !strings.HasSuffix(line, "\n") || len(line) > 1<<20 {
		t.Fatalf("%v, %d bytes: %.500q", err, len(line), line)
	}
	if _, ok := e["args"].(map[string]any); !ok {
		t.Errorf("args are no object: %.500q", line)
	}
	if strings.Contains(line, planted) || strings.Contains(fmt.Sprint(e), planted) {
		t.Errorf("the secret is there: %.500q", line)
	}
}
