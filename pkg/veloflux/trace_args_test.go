package veloflux

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

func TestSQLModes(t *testing.T) {
	const sql = "SELECT a < 1 AS \"x\"\nFROM user"
	sum := fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(sql)))
	args := `{"id":"p","sql":` + string(rawjson.Quote(sql)) + `,"options":{"n":1.0}}`
	for mode, want := range map[SQLMode]string{
		SQLRaw:    args,
		"":        args,
		SQLHash:   `{"id":"p","sql_hash":"` + sum + `","options":{"n":1.0}}`,
		SQLRedact: `{"id":"p","sql":"<redacted>","options":{"n":1.0}}`,
		"unknown": `{"id":"p","sql":"<redacted>","options":{"n":1.0}}`,
	} {
		if got := argsOf(t, traced(t, mode, args, nil)); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", mode, got, want)
		}
	}
	for in, want := range map[string]string{
		`{"sql":null}`:                          `{"sql":null}`,
		`{"s\u0071l":"SELECT 1"}`:               `{"s\u0071l":"<redacted>"}`,
		`{"sql":"SELECT 1","sql":"SELECT 2"}`:   `{"sql":"<redacted>","sql":"<redacted>"}`,
		`{"SQL":"SELECT 1"}`:                    `{"SQL":"<redacted>"}`,
		`{"sql":["SELECT 1",{"a":"]"}],"id":1}`: `{"sql":"<redacted>","id":1}`,
		`{"sql":17}`:                            `{"sql":"<redacted>"}`,
		`"SELECT 1"`:                            `{"arguments":"<redacted>"}`,
		`["SELECT 1"]`:                          `{"arguments":"<redacted>"}`,
		`{"sql":"SELECT 1`:                      `{"arguments":"<redacted>"}`,
	} {
		if got := argsOf(t, traced(t, SQLRedact, in, nil)); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", in, got, want)
		}
	}
}

func TestOnlyHarmlessArgumentsAreShownWhereSQLIsHidden(t *testing.T) {
	const sql = "SELECT topsecret FROM user"
	for _, tt := range []struct{ tool, args, want string }{
		{"pipelines.verify", `{"query":"§"}`, `{"<redacted>":"<redacted>"}`},
		{"pipelines.verify", `{"statement":["§"]}`, `{"<redacted>":"<redacted>"}`},
		{"pipelines.verify", `{"sql ":"§"}`, `{"<redacted>":"<redacted>"}`},
		{"pipelines.verify", `{"§":1}`, `{"<redacted>":"<redacted>"}`},
		{"pipelines.verify", `{"id":"p"}`, `{"<redacted>":"<redacted>"}`},
		{"pipelines.run", `{"sql":"§"}`, `{"arguments":"<redacted>"}`},
		{"§", `{"id":"§"}`, `{"arguments":"<redacted>"}`},
		{"streams.list", `{"id":"§","x":null}`, `{"<redacted>":"<redacted>","<redacted>":"<redacted>"}`},
		{"streams.list", ``, `{}`},
		{"functions.describe", `{"name":"sum"}`, `{"name":"sum"}`},
		{"pipelines.stats", `{"pipeline_id":"p","timeout_ms":5}`, `{"pipeline_id":"p","timeout_ms":5}`},
		{"pipelines.create", `{"id":["§"],"flow_instance_id":"§"}`, `{"id":["<redacted>"],"flow_instance_id":"<redacted>"}`},
		{"pipelines.create", `{"id":"{\"a\":\"§\",\"§\":1}"}`, `{"id":"{\"a\":\"<redacted>\",\"<redacted>\":1}"}`},
		{"pipelines.create", `{"id":"p","sinks":[{"type":"mqtt","id":"§","props":{"qos":1,"§":2,"sql":"§"}}],"options":"§"}`, `{"id":"p","sinks":[{"type":"<redacted>","id":"<redacted>","props":{"qos":1,"<redacted>":2,"sql":"<redacted>"}}],"options":"<redacted>"}`},
	} {
		plant := strings.NewReplacer("§", sql).Replace
		failure := &Error{Code: CodeInvalidParams, Message: "it has no argument " + sql}
		for _, mode := range []SQLMode{SQLHash, SQLRedact} {
			line := tracedCall(t, mode, plant(tt.tool), plant(tt.args), failure)
			if got := argsOf(t, line); got != tt.want || strings.Contains(line, "topsecret") {
				t.Errorf("%s %s\ngot  %s\nwant %s", tt.tool, tt.args, line, tt.want)
			}
		}
		if got := tracedCall(t, SQLRaw, plant(tt.tool), plant(tt.args), nil); strings.Contains(tt.args, "§") && !strings.Contains(got, "topsecret") {
			t.Errorf("raw hides it: %s", got)
		}
	}
	unknown := tracedCall(t, SQLHash, sql, "", &Error{Code: CodeNotFound, Message: "There is no tool " + sql})
	if strings.Contains(unknown, "topsecret") || !strings.Contains(unknown, `"name":"<redacted>"`) {
		t.Error(unknown)
	}
}

func TestCredentialsInArguments(t *testing.T) {
	for in, want := range map[string]string{
		`{"sinks":[{"type":"mqtt","props":{"password":"hunter22","topic":"t"}}]}`:                     `{"sinks":[{"type":"mqtt","props":{"password":"<redacted>","topic":"t"}}]}`,
		`{"password":"pw","note":"pw"}`:                                                               `{"password":"<redacted>","note":"<redacted>"}`,
		`{"pass\u0077ord":"hunter22"}`:                                                                `{"pass\u0077ord":"<redacted>"}`,
		`{"api_key":123456,"n":123456,"m":1234567}`:                                                   `{"api_key":"<redacted>","n":"<redacted>","m":1234567}`,
		`{"credentials":{"user":"bobby tables","pass":["y","hunter22"]},"x":"hunter22 bobby tables"}`: `{"credentials":"<redacted>","x":"<redacted> <redacted>"}`,
		`{"password":"","token":null,"secret":false,"credentials":{}}`:                                `{"password":"","token":null,"secret":false,"credentials":{}}`,
		`{"max_tokens":123456}`:                                                                       `{"max_tokens":123456}`,
		`{"a":["hunter22"],"hunter22":1,"password":"hunter22"}`:                                       `{"a":["<redacted>"],"<redacted>":1,"password":"<redacted>"}`,
		`{"headers":{"Authorization":"Bearer abc.def"},"x":"y abc.def z"}`:                            `{"headers":{"Authorization":"<redacted>"},"x":"y <redacted> z"}`,
		`{"sinks":"[{\"password\":\"pw\", \"n\":1.0}]"}`:                                              `{"sinks":"[{\"password\":\"<redacted>\",\"n\":1.0}]"}`,
		`{"sinks":"[{\"n\": 1.0}]"}`:                                                                  `{"sinks":"[{\"n\": 1.0}]"}`,
		`{"sinks":"[{\"password\":\"pw"}`:                                                             `{"sinks":"[{\"password<redacted>"}`,
		`"{\"password\":\"pw\"}"`:                                                                     `{"arguments":"{\"password\":\"<redacted>\"}"}`,
	} {
		if got := argsOf(t, traced(t, SQLRaw, in, nil)); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", in, got, want)
		}
	}
	nested := rawjson.Quote("deep")
	for range 5 {
		nested = rawjson.Quote(string(nested))
	}
	if got := argsOf(t, traced(t, SQLRaw, `{"a":`+string(nested)+`}`, nil)); strings.Contains(got, "deep") || !strings.Contains(got, "<redacted>") {
		t.Error(got)
	}
}

func TestSecretsOfArgumentsAreNotInMessages(t *testing.T) {
	for args, message := range map[string]string{
		`{"sinks":[{"props":{"password":"hunter22"}}]}`:      "sinks[0] has hunter22",
		`{"p":{"broker_url":"tcp://u:hunter22@broker"}}`:     "cannot log in with hunter22",
		`{"p":{"broker_url":"tcp://u:hunter%32%32@broker"}}`: "cannot log in with hunter22",
		`{"sinks":"[{\"password\":\"hunter22\"}]"}`:          "sinks is a text: hunter22",
		`{"password":"hunter22"}`:                            "in base64 " + base64.StdEncoding.EncodeToString([]byte("u:hunter22")),
		`{"Authorization":"Basic hunter22"}`:                 "no hunter22",
		`{"password":"hunt"}`:                                `string "hunt", expected u8`,
	} {
		line := traced(t, SQLRaw, args, &Error{Code: CodeToolFailed, Message: message})
		if got := messageOf(t, line); !strings.Contains(got, "<redacted>") || strings.Contains(line, "hunt") {
			t.Errorf("%s: %s", args, line)
		}
	}
}

func TestTheManagersSecretsAreNowhere(t *testing.T) {
	known := []string{"Bearer first-secret", "first-secret"}
	var out bytes.Buffer
	tr := newTracer(WriterSink(&out), SQLRaw, allTools(), func() []string { return known }, nil)
	for _, secret := range []string{"first-secret", "other-secret"} {
		known = []string{"Bearer " + secret, secret}
		out.Reset()
		for _, args := range []string{"", `{"a":1,"first":"x"}`, `{"password":"another"}`, `{"a":"x ` + secret + `","b":{"` + secret + `":1}}`, `{"a":"` + secret} {
			tr.record(KindToolCall, "tool "+secret, json.RawMessage(args), time.Now(), false, &Error{Code: CodeToolFailed, Message: "no " + secret + " " + url.QueryEscape("Bearer "+secret)})
		}
		if strings.Contains(out.String(), secret) || strings.Count(out.String(), "\n") != 5 {
			t.Error(out.String())
		}
	}
	out.Reset()
	tr.record(KindToolCall, "first-secret another", nil, time.Now(), false, nil)
	if !strings.Contains(out.String(), "first-secret another") {
		t.Errorf("what is secret no more, or was one call's, is remembered: %s", out.String())
	}
}

func TestManyCallsAtATime(t *testing.T) {
	var n atomic.Int64
	var out bytes.Buffer
	tr := newTracer(WriterSink(&out), SQLRaw, allTools(), func() []string { return []string{fmt.Sprintf("secret-%d", n.Add(1)%3)} }, nil)
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			args := fmt.Sprintf(`{"password":"hunter-%d","x":"hunter-%d"}`, i, i)
			if i%2 == 0 {
				args = ""
			}
			tr.record(KindToolCall, "x", json.RawMessage(args), time.Now(), false, nil)
		})
	}
	all.Wait()
	if strings.Count(out.String(), "\n") != 20 || strings.Contains(out.String(), "hunter") {
		t.Error(out.String())
	}
}

func TestTooManySecrets(t *testing.T) {
	var list []string
	for i := range maxSecrets + 1 {
		list = append(list, fmt.Sprintf("secret-%d-", i))
	}
	raw, _ := json.Marshal(map[string]any{"tokens": 1, "token": list, "x": list[0]})
	line := traced(t, SQLRaw, string(raw), &Error{Code: CodeToolFailed, Message: list[1]})
	if strings.Contains(line, "secret-") || argsOf(t, line) != fmt.Sprintf(`{"omitted_bytes":%d}`, len(raw)) {
		t.Error(line)
	}
}

func TestArgumentsKeepTheirBytes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var build func(depth int) any
		build = func(depth int) any {
			switch k := rapid.IntRange(0, 5).Draw(rt, "kind"); {
			case k == 0 && depth > 0:
				list := []any{}
				for range rapid.IntRange(0, 3).Draw(rt, "length") {
					list = append(list, build(depth-1))
				}
				return list
			case k <= 2 && depth > 0:
				object := map[string]any{}
				for range rapid.IntRange(0, 3).Draw(rt, "length") {
					object[rapid.StringMatching(`[a-z"\\é ]{0,4}`).Draw(rt, "key")] = build(depth - 1)
				}
				return object
			case k == 3:
				return json.Number(rapid.SampledFrom([]string{"1.0", "-0", "1e2", "9007199254740993"}).Draw(rt, "number"))
			}
			return rapid.StringMatching(`[a-z"\\{}\[\],: é@=?&%]{0,8}`).Draw(rt, "text")
		}
		raw, err := json.MarshalIndent(map[string]any{"a": build(4)}, "", " ")
		if err != nil {
			rt.Fatal(err)
		}
		c := &cleaner{mode: SQLRaw}
		if got, want := string(c.arguments(raw)), string(rawjson.Compact(raw)); got != want {
			rt.Fatalf("got  %s\nwant %s", got, want)
		}
	})
}
