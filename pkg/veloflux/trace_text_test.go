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
		"tcp://user:p@ss@broker/x@y":                        "tcp://<redacted>@broker/x@y",
		"//user:hunter22@broker":                            "//<redacted>@broker",
		`tcp:\/\/user:hunter22@broker`:                      `tcp:\/\/<redacted>@broker`,
		"mqtt://broker:1883,mqtt://u:p@b2,mqtt://u:q@b3":    "mqtt://broker:1883,mqtt://<redacted>@b2,mqtt://<redacted>@b3",
		"to mqtt://b1:1883,mqtt://u:p@b2;mqtt://u:q@b3 now": "to mqtt://b1:1883,mqtt://<redacted>@b2;mqtt://<redacted>@b3 now",
		"http://127.0.0.1:8080/pipelines/a@b":               "http://127.0.0.1:8080/pipelines/a@b",
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
		`{"uri":"streams/schema?name=a:b@c"}`:  `{"uri":"streams/schema?name=a:b@c"}`,
		`{"note":"ratio 3:4 @ noon"}`:          `{"note":"ratio 3:4 @ noon"}`,
		`{"tcp://u:p@h":"tcp:\/\/u:p\u0040h"}`: `{"tcp://<redacted>@h":"tcp://<redacted>@h"}`,
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

// TestRawMeansRaw asserts that no text is searched for what looks like a secret, except for the userinfo of URLs.
func TestRawMeansRaw(t *testing.T) {
	for _, text := range []string{
		"SELECT a FROM user WHERE token = 'blue'", "SELECT password, a FROM b JOIN c ON b.token=c.token", "SELECT a AS secret FROM user WHERE pwd=\"x y\"",
		"Server=h;User=u;Password=hunter22;Encrypt=true", `LoginModule required username="u" password="hunter22";`, "http://h/x?X-Amz-Signature=hunter22&a=1",
		"Authorization: Bearer hunter22", "use bearer hunter22, or not", "-----BEGIN PRIVATE KEY-----\nhunter22", `props are "password": "hunter22", "n": 1`,
	} {
		for _, key := range []string{"sql", "text"} {
			args := `{"` + key + `":` + string(rawjson.Quote(text)) + `}`
			if got := argsOf(t, traced(t, SQLRaw, args, nil)); got != args {
				t.Errorf("got  %s\nwant %s", got, args)
			}
		}
		if got := messageOf(t, traced(t, SQLRaw, "", &Error{Code: CodeToolFailed, Message: text})); got != text {
			t.Errorf("as a message: %s\ngot %s", text, got)
		}
	}
	for in, want := range map[string]string{
		`{"headers":["Authorization: Bearer C"]}`:                              `{"headers":["Authorization: Bearer C"]}`,
		`{"headers":[{"name":"Authorization","value":"C"}]}`:                   `{"headers":[{"name":"Authorization","value":"<redacted>"}]}`,
		`{"headers":[{"Value":"C","key":"X-Auth"},{"key":"X-A","value":"b"}]}`: `{"headers":[{"Value":"<redacted>","key":"X-Auth"},{"key":"X-A","value":"b"}]}`,
	} {
		if got := argsOf(t, traced(t, SQLRaw, in, nil)); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", in, got, want)
		}
	}
	known := "SELECT a FROM user WHERE token = 'manager-secret'"
	if line := traced(t, SQLRaw, `{"sql":`+string(rawjson.Quote(known))+`}`, nil, "manager-secret"); strings.Contains(line, "manager-secret") || !strings.Contains(line, "token = '<redacted>'") {
		t.Errorf("a known value is shown: %s", line)
	}
}

func TestWhatIsTakenOutIsLookedForElsewhere(t *testing.T) {
	for text, want := range map[string][]string{
		"mqtt://b1:1883,mqtt://u:first-one@b2;mqtt://u:other-one@b3": {"first-one", "other-one"},
		"tcp://u:hunter%32%32@h":                                     {"hunter22", "hunter%32%32"},
		"tcp://u:hunt@er22@h":                                        {"hunt@er22"},
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
