package veloflux

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

func TestUserinfoOfURLs(t *testing.T) {
	for in, want := range map[string]string{
		"tcp://user:hunter22@broker:1883":                   "tcp://<redacted>@broker:1883",
		"tcp://user@broker":                                 "tcp://<redacted>@broker",
		"tcp://user:p@ss@broker/x@y":                        "tcp://<redacted>@y",
		"tcp://user:p/ss@broker":                            "tcp://<redacted>@broker",
		"tcp://user:1/ss@broker":                            "tcp://<redacted>@broker",
		"tcp://user:two words@broker":                       "tcp://<redacted>@broker",
		"//user:hunter22@broker":                            "//<redacted>@broker",
		`tcp:\/\/user:hunter22@broker`:                      `tcp:\/\/<redacted>@broker`,
		"mqtt://broker:1883,mqtt://u:p@b2,mqtt://u:q@b3":    "mqtt://<redacted>@b3",
		"to mqtt://b1:1883,mqtt://u:p@b2;mqtt://u:q@b3 now": "to mqtt://<redacted>@b3 now",
		"http://127.0.0.1:8080/pipelines/a@b":               "http://<redacted>@b", // for all that one can tell
		"see http://127.0.0.1:8080/ and a@b":                "see http://127.0.0.1:8080/ and a@b",
		"mail a@b, see http://x/y":                          "mail a@b, see http://x/y",
		"SELECT 'amqp://u:p@h/v' FROM \"s\" WHERE a='x@y'":  "SELECT 'amqp://<redacted>@h/v' FROM \"s\" WHERE a='x@y'",
		"http://h/x?a=1&api_key=k1&b=2":                     "http://h/x?a=1&api_key=<redacted>&b=2",
		"http://h/x?access_token=":                          "http://h/x?access_token=",
		"50% of 3 @ 5":                                      "50% of 3 @ 5",
	} {
		args := `{"text":` + string(rawjson.Quote(in)) + `}`
		if got := gjson.Get(argsOf(t, traced(t, SQLRaw, args, nil)), "text").Str; got != want {
			t.Errorf("%s\ngot  %s\nwant %s", in, got, want)
		}
		if got := messageOf(t, traced(t, SQLRaw, "", &Error{Code: CodeToolFailed, Message: in})); got != want {
			t.Errorf("as a message: %s\ngot  %s\nwant %s", in, got, want)
		}
		var e Entry
		newTracer(SinkFunc(func(got Entry) error { e = got; return nil }), SQLRaw, allTools(), nil, nil).record(KindResourceRead, in, nil, time.Now(), false, nil)
		if e.Name != want {
			t.Errorf("as a name: %s\ngot  %s\nwant %s", in, e.Name, want)
		}
	}
	for in, want := range map[string]string{
		`{"broker_url":"user:hunter22@broker:1883"}`: `{"broker_url":"<redacted>@broker:1883"}`,
		`{"broker_url":"broker:1883/a@b"}`:           `{"broker_url":"<redacted>@b"}`,
		`{"uri":"streams/schema?name=a:b@c"}`:        `{"uri":"streams/schema?name=a:b@c"}`,
		`{"note":"ratio 3:4 @ noon"}`:                `{"note":"ratio 3:4 @ noon"}`,
		`{"tcp://u:p@h":"tcp:\/\/u:p\u0040h"}`:       `{"tcp://<redacted>@h":"tcp://<redacted>@h"}`,
	} {
		if got := argsOf(t, traced(t, SQLRaw, in, nil)); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", in, got, want)
		}
	}
}

func TestSecretsByTheirNames(t *testing.T) {
	for _, name := range []string{"pwd", "cookie", "Set-Cookie", "AccountKey", "accountkey", "SharedAccessKey", "X-Auth", "session", "session_id", "sessionId", "password", "apiKey", "sasl.password", "X-Amz-Signature", "Jwt"} {
		line := traced(t, SQLRaw, `{"sinks":[{"props":{"`+name+`":"hunter22","topic":"t"}}]}`, &Error{Message: "no hunter22"})
		if strings.Contains(line, "hunter22") || !strings.Contains(line, `"topic":"t"`) {
			t.Errorf("%s: %s", name, line)
		}
	}
	for _, name := range []string{"key", "primary_key", "partitionKey", "author", "max_tokens", "a.key", "keys", "topic", "id", ""} {
		if secretName(name) {
			t.Errorf("%s is taken for a secret's name", name)
		}
	}
}

func TestSecretsByTheirForm(t *testing.T) {
	for in, want := range map[string]string{
		"Server=h;User=u;Password=hunter22;Encrypt=true":                                "Server=h;User=u;Password=<redacted>;Encrypt=true",
		"AccountName=a;AccountKey=hunter22==;x":                                         "AccountName=a;AccountKey=<redacted>;x",
		`LoginModule required username="u" password="hunter22";`:                        `LoginModule required username="u" password="<redacted>";`,
		`LoginModule required password = 'hunter22 two' x`:                              `LoginModule required password = '<redacted>' x`,
		`module password=\"hunter22\" x`:                                                `module password=\"<redacted>\" x`,
		`module password="hun\"ter22" x`:                                                `module password="<redacted>" x`,
		"http://h/x?X-Amz-Signature=hunter22&a=1":                                       "http://h/x?X-Amz-Signature=<redacted>&a=1",
		"http://h/x?next=token=hunter22&a=1":                                            "http://h/x?next=token=<redacted>&a=1",
		"pwd=hunter22, TOKEN=hunter22 now":                                              "pwd=<redacted>, TOKEN=<redacted> now",
		"Authorization: Bearer hunter22":                                                "Authorization: <redacted>",
		"Accept: a\nCookie: s=hunter22; t=1\nX-A: b":                                    "Accept: a\nCookie: <redacted>\nX-A: b",
		"use bearer hunter22, or not":                                                   "use bearer <redacted>, or not",
		`props are "password": "hunter22", "n": 1`:                                      `props are "password": "<redacted>", "n": 1`,
		"a -----BEGIN RSA PRIVATE KEY-----\nhunter22\n-----END RSA PRIVATE KEY-----\nb": "a <redacted>\nb",
		"-----BEGIN PRIVATE KEY-----\nhunter22":                                         "<redacted>",
		"unexpected token: FROM, a.key = b.key, token=":                                 "unexpected token: FROM, a.key = b.key, token=",
	} {
		args := `{"text":` + string(rawjson.Quote(in)) + `}`
		if got := gjson.Get(argsOf(t, traced(t, SQLRaw, args, nil)), "text").Str; got != want {
			t.Errorf("%s\ngot  %s\nwant %s", in, got, want)
		}
		if got := messageOf(t, traced(t, SQLRaw, "", &Error{Code: CodeToolFailed, Message: in})); got != want {
			t.Errorf("as a message: %s\ngot  %s\nwant %s", in, got, want)
		}
	}
	for in, want := range map[string]string{
		`{"headers":["Authorization: Bearer C"]}`:                              `{"headers":["Authorization: <redacted>"]}`,
		`{"headers":[{"name":"Authorization","value":"C"}]}`:                   `{"headers":[{"name":"Authorization","value":"<redacted>"}]}`,
		`{"headers":[{"Value":"C","key":"X-Auth"},{"key":"X-A","value":"b"}]}`: `{"headers":[{"Value":"<redacted>","key":"X-Auth"},{"key":"X-A","value":"b"}]}`,
		`{"sql":"SELECT a FROM b JOIN c ON b.token=c.token WHERE pwd = 'C'"}`:  `{"sql":"SELECT a FROM b JOIN c ON b.token=c.token WHERE pwd = '<redacted>'"}`,
		`{"password=C":1}`: `{"password=<redacted>":1}`,
	} {
		if got := argsOf(t, traced(t, SQLRaw, in, nil)); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", in, got, want)
		}
	}
}

func TestWhatIsTakenOutIsLookedForElsewhere(t *testing.T) {
	for text, want := range map[string][]string{
		"mqtt://b1:1883,mqtt://u:first-one@b2;mqtt://u:other-one@b3": {"first-one", "other-one"},
		"tcp://u:hunter%32%32@h":                                     {"hunter22", "hunter%32%32"},
		"tcp://u:hunt@er22@h":                                        {"hunt@er22"},

		"http://h/?token=hunter%32%32":          {"hunter22"},
		"Authorization: Basic dTpodW50ZXIyMg==": {"dTpodW50ZXIyMg==", "hunter22"},
		"Cookie: a=hunter22; b=\"hunter33\"":    {"hunter22", "hunter33"},
		"password=${hunter22}":                  {"${hunter22}"},
	} {
		c := &cleaner{}
		c.text(text)
		for _, secret := range want {
			if !slices.Contains(c.secrets, secret) {
				t.Errorf("%s: %q is not known, but %q", text, secret, c.secrets)
			}
		}
		line := traced(t, SQLRaw, `{"a":`+string(rawjson.Quote(text))+`,"b":`+string(rawjson.Quote(want[0]))+`}`, nil)
		if got := gjson.Get(argsOf(t, line), "b").Str; got != "<redacted>" {
			t.Errorf("%s: %s", text, line)
		}
	}
}
