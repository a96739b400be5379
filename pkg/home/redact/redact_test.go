package redact

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pflow-suite/pflow/pkg/fault"
)

func TestSecretName(t *testing.T) {
	for name, want := range map[string]bool{
		"password": true, "db_password": true, "DB_PASSWORD": true, "dbPassword": true, "passwd": true, "passphrase": true,
		"client.secret": true, "GITHUB_TOKEN": true, "accessToken": true, "X-Auth-Token": true, "credential": true, "AWSCredentials": true,
		"Authorization": true, "proxy-authorization": true, "api_key": true, "apiKey": true, "APIKey": true, "X-API-Key": true,
		"private.key": true, "access-key": true, "my_access_key": true, "token_": true, "v2Token": true,
		"nextPageToken": false, "next_page_token": false, "page_token": false, "PageToken": false, "NextToken": false, "nextSyncToken": false,
		"continuation_token": false, "X-Continuation-Token": false, "cursor.token": false, "deltaToken": false, "page_tokens": false,
		"page_access_token": true, "next_auth_token": true, "pageToken2": false, "webpageToken": true, "syncSecret": true, "max_tokens": false, "author": false, "tokens": false, "key": false, "primary_key": false, "apikey": false, "keyboard": false,
		"token_url": false, "secretName": false, "api_key_header": false, "": false, "_": false, "tokenizer": false, "PASSWORDS": false,
	} {
		if got := SecretName(name); got != want {
			t.Errorf("SecretName(%q) = %v", name, got)
		}
	}
}

func TestText(t *testing.T) {
	r := New()
	if !r.Empty() || r.Text("anything") != "anything" {
		t.Error("a Redactor without secrets changes a text")
	}
	r.Add("a", "hunter22")
	r.Add("b", "abc")
	r.Add("c", "")
	r.Add("d", Mark)
	r.Add("e", "from-a-file\n")
	r.Add("f", "p%c3q>r?")
	if r.Empty() {
		t.Error("Empty after Add")
	}
	for in, want := range map[string]string{
		"hunter22":                          Mark,
		"my hunter22, hunter22!":            "my " + Mark + ", " + Mark + "!",
		"hunter2":                           "hunter2",
		"hunter2hunter22hunter22":           "hunter2" + Mark + Mark,
		"abc":                               Mark,
		"abcd":                              "abcd",
		"YWJj":                              Mark,
		"%61bc":                             Mark,
		`\u0061bc`:                          Mark,
		"the file says from-a-file":         "the file says " + Mark,
		"from-a-file\n":                     Mark,
		Mark:                                Mark,
		"":                                  "",
		"Authorization: Basic aHVudGVyMjI=": "Authorization: Basic " + Mark,
		"https://x/p%C3q%3Er?x":             "https://x/" + Mark + "x", // put together without escaping
		"https://x/p%25c3q%3Er%3Fx":         "https://x/" + Mark + "x",
		"https://x/?q=hunter%322&r=1":       "https://x/?q=" + Mark + "&r=1",
	} {
		if got := r.Text(in); got != want {
			t.Errorf("Text(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestBytesThatAreNoTextInJSON(t *testing.T) {
	value := "key\xff\xfe-123456"
	r := New()
	r.Add("k", value)
	raw, _ := json.Marshal(map[string]string{"a": "x " + value + " y"})
	if got, changed := r.JSON(raw); !changed || string(got) != `{"a":"x <redacted> y"}` {
		t.Errorf("%s", got)
	}
	if got := r.Text(string(raw)); got != `{"a":"x <redacted> y"}` {
		t.Errorf("%s", got)
	}
}

func TestJSON(t *testing.T) {
	for name, tt := range map[string]struct{ in, plain, named string }{
		"nothing":     {`{"a": [1, "x"], "max_tokens": "9"}`, ``, ``},
		"value":       {`{"a": "say hunter22"}`, `{"a": "say <redacted>"}`, `{"a": "say <redacted:PW>"}`},
		"escapes":     {`{"a": "\u0068unter\u00322"}`, `{"a": "<redacted>"}`, `{"a": "<redacted:PW>"}`},
		"key":         {`{"x hunter22": 1}`, `{"x <redacted>": 1}`, `{"x <redacted:PW>": 1}`},
		"number":      {`[271828, 2718281]`, `["<redacted>", 2718281]`, `["<redacted:PIN>", 2718281]`},
		"top string":  {`"hunter22"`, `"<redacted>"`, `"<redacted:PW>"`},
		"secret name": {`{"b": "s3cr3t!", "api_key": "s3cr3t!", "c": 1}`, `{"b": "<redacted>", "api_key": "<redacted>", "c": 1}`, `{"b": "<redacted:api_key>", "api_key": "<redacted:api_key>", "c": 1}`},
		"name escape": {`{"api\u005fkey": "pw"}`, `{"api\u005fkey": "<redacted>"}`, `{"api\u005fkey": "<redacted:api_key>"}`},
		"header list": {`{"Authorization": ["Bearer 1", "Bearer 2"], "d": ["z"]}`, `{"Authorization": ["<redacted>", "<redacted>"], "d": ["z"]}`, `{"Authorization": ["<redacted:Authorization>", "<redacted:Authorization>"], "d": ["z"]}`},
		"no string":   {`{"token": 12, "secret": null, "password": {"length": 8, "how": "x"}}`, ``, ``},
		"template":    {`{"auth_token": "${tok}", "token": "${a[${i}].b}", "secret": "", "password": "<redacted>"}`, ``, ``},
		"two of them": {`{"token": "${a}${b}"}`, `{"token": "<redacted>"}`, `{"token": "<redacted:token>"}`},
		"known there": {`{"token": "hunter22"}`, `{"token": "<redacted>"}`, `{"token": "<redacted:token>"}`},
		"after list":  {`{"token": [], "e": "f"}`, ``, ``},
		"html":        {`{"a": "<&hunter22>"}`, `{"a": "<&<redacted>>"}`, `{"a": "<&<redacted:PW>>"}`},
	} {
		t.Run(name, func(t *testing.T) {
			for _, way := range []string{"plain", "named"} {
				r := New()
				r.Add("PW", "hunter22")
				r.Add("PIN", "271828")
				raw := json.RawMessage(tt.in)
				got, want, changed := r.Named(raw), tt.named, tt.named != ""
				if way == "plain" {
					want = tt.plain
					got, changed = r.JSON(raw)
				}
				if changed != (want != "") {
					t.Errorf("%s: changed is %v", way, changed)
				}
				if want == "" {
					want = tt.in
					if &got[0] != &raw[0] {
						t.Errorf("%s: not the same bytes", way)
					}
				}
				if string(got) != want {
					t.Errorf("%s:\n got %s\nwant %s", way, got, want)
				}
			}
		})
	}
}

func TestAValueUnderASecretNameIsFoundElsewhereFromThenOn(t *testing.T) {
	r := New()
	r.JSON(json.RawMessage(`{"session_token": "abc/def+123"}`))
	if got := r.Text("curl -d abc%2Fdef%2B123"); got != "curl -d "+Mark {
		t.Error(got)
	}
	r = New()
	r.JSON(json.RawMessage(`{"session_token": "${abcdefgh}"}`))
	if !r.Empty() {
		t.Error("a template became a secret")
	}
}

func TestARotatedSecretGivesAnEqualDigest(t *testing.T) {
	var results []string
	for _, value := range []string{"first-value", "a-much-longer-second-value"} {
		r := New()
		r.Add("TOKEN", value)
		results = append(results, string(r.Named(json.RawMessage(fmt.Sprintf(`{"h":"Bearer %s","auth_token":%q}`, value, value)))))
	}
	if results[0] != results[1] || strings.Contains(results[0], "value") {
		t.Error(results)
	}
}

func TestFault(t *testing.T) {
	r := New()
	r.Add("k", "hunter22")
	f := &fault.Fault{
		Type: fault.Execution, Message: "no hunter22", Node: "n", Path: "a[\"hunter22\"]", File: "/x/hunter22", Line: 3,
		Missing: []string{"hunter22"}, Suggestions: []string{"try hunter22"}, Available: []string{"x"},
		Errors:  []*fault.Fault{{Type: fault.Template, Message: "hunter22"}},
		Details: map[string]any{"status": 7, "stderr": "x hunter22", "list": []string{"hunter22"}, "api_key": "other-secret", "hunter22": true},
	}
	before := fmt.Sprintf("%+v", f)
	got, err := json.Marshal(r.Fault(f))
	if err != nil || bytes.Contains(got, []byte("hunter22")) || bytes.Contains(got, []byte("other-secret")) || !bytes.Contains(got, []byte(`"status":7`)) {
		t.Errorf("%s %v", got, err)
	}
	if fmt.Sprintf("%+v", f) != before {
		t.Error("the fault itself was changed")
	}
	clean := &fault.Fault{Type: fault.Usage, Message: "m", Details: map[string]any{"n": 1}}
	if d := cmp.Diff(clean, r.Fault(clean)); d != "" || r.Fault(nil) != nil {
		t.Error(d)
	}
}

func TestAPartOfASecretWhereATextWasCut(t *testing.T) {
	r := New()
	r.Add("k", "hunter+22/00")
	for in, want := range map[string]string{
		"it is hunter+2…":              "it is " + Mark + "…",
		"…ter+22/00 it is":             "…" + Mark + " it is",
		"a …ter%2B22%2F00… b":          "a …" + Mark + "… b",
		"a hunter%2B2… b":              "a " + Mark + "… b",
		"Basic bWU6aHVudGVyKz…":        "Basic bWU" + Mark + "…", // the 6 may have been a part of it
		"…VudGVyKzIyLzAw":              "…" + Mark,
		"hun… and …/00":                "hun… and …/00", // it tells nothing
		"…it was hunter+22/00, hunte…": "…it was " + Mark + ", " + Mark + "…",
		"wait…":                        "wait…",
		"hunter+22…hunter+22":          Mark + "…hunter+22",
	} {
		if got := r.Text(in); got != want {
			t.Errorf("Text(%q) = %q, want %q", in, got, want)
		}
	}
	f := (&fault.Fault{Type: fault.Protocol, Message: "no JSON"}).Detail("line", "said hunter+…").Detail("n", 1)
	if d := r.Fault(f).Details; d["line"] != "said "+Mark+"…" || d["n"] != 1 {
		t.Errorf("%v", d)
	}
}

func TestAFaultShowsNoLineWithASecret(t *testing.T) {
	r := New()
	r.Add("k", `hunter"2200`)
	for line, want := range map[string]bool{
		`{"a": 1}`: true, `…{"a": "h…`: true, `{"k": "hunter\"2200"}`: false, `{"k": "hunter\"2…`: false, `…nter\"2200", "b"}`: false, `…200"}`: true, `…2200"}`: false, `{"k": "hunter is`: true,
	} {
		f := (&fault.Fault{Type: fault.Validation, Message: "m"}).Detail("text", line).Detail("mark", "^").Detail("n", 1)
		_, text := r.Fault(f).Details["text"]
		_, mark := r.Fault(f).Details["mark"]
		if text != want || mark != want || r.Fault(f).Details["n"] == nil {
			t.Errorf("%s: %v", line, r.Fault(f).Details)
		}
	}
}

// failing fails every write.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestWriter(t *testing.T) {
	r := New()
	var out bytes.Buffer
	w := r.Writer(&out)
	write := func(s, want string) {
		t.Helper()
		out.Reset()
		if n, err := io.WriteString(w, s); n != len(s) || err != nil {
			t.Fatal(n, err)
		}
		if out.String() != want {
			t.Errorf("after %q: passed on %q, want %q", s, out.String(), want)
		}
	}
	write("as it is", "as it is")
	r.Add("k", "hunter22")
	write("progress 10 %\n", "progress 10 %\n") // nothing that may be a secret's beginning is held back
	write("x hunt", "x ")
	write("er22 y\n", Mark+" y\n")
	write("x hunt", "x ")
	write("ing\n", "hunting\n")
	r.Add("b", `bunter22\`)
	for first, second := range map[string]string{`\`: `\`, `%5C`: `%5C`, `\u005c`: `u005c`} { // an encoder may double the last one
		write("x bunter22"+first, "x ")
		write(second+" y\n", Mark+" y\n")
	}
	write("hunter", "")
	out.Reset()
	if err := w.Close(); err != nil || out.String() != "hunter" {
		t.Errorf("%q %v", out.String(), err)
	}
	if _, err := r.Writer(failing{}).Write([]byte("x\n")); !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
}

func TestAddingWhileOthersRedact(t *testing.T) {
	r := New()
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for k := range 50 {
				value := fmt.Sprintf("secret-%d-%d-end", i, k)
				r.Add("n", value)
				if got := r.Text("a " + value); got != "a "+Mark {
					t.Error(got)
				}
			}
		})
	}
	wg.Wait()
}

func BenchmarkJSON(b *testing.B) {
	r := New()
	for i := range 10 {
		r.Add("k", fmt.Sprintf("ghp_%dabcdefXYZ%d", i, i*7919))
	}
	for name, line := range map[string]string{
		"text":   `{"name":"Some ordinary text with words of github","n":12345,"list":["a","b\n"]},`,
		"base64": `"` + strings.Repeat("Z2hwXzBhYmNkZWZYWVow/+9", 40) + `",`,
	} {
		raw := json.RawMessage("[" + strings.Repeat(line, 10<<20/len(line)) + "0]")
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for b.Loop() {
				r.JSON(raw)
			}
		})
	}
}
