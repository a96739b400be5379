package veloflux

import (
	"encoding/base64"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// echoed returns the values of the given headers that a Manager received.
func echoed(t *testing.T, c Config, names ...string) (got []string) {
	t.Helper()
	s := serverOf(t, func(w http.ResponseWriter, r *http.Request) {
		for _, name := range names {
			if name == "Host" {
				got = append(got, r.Host)
				continue
			}
			got = append(got, strings.Join(r.Header.Values(name), "|"))
		}
		_, _ = w.Write([]byte("[]"))
	})
	c.URL = strings.Replace(s.URL, "://", "://"+c.URL, 1)
	if _, err := managerFor(t, c).Streams(t.Context()); err != nil {
		t.Fatal(err)
	}
	return got
}

func basic(s string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte(s)) }

func TestHeadersThatAreSent(t *testing.T) {
	file := filepath.Join(t.TempDir(), "headers")
	putText(t, file, "\ufeff# who we are\r\n\r\n  Authorization :  no\r\n")
	if _, err := NewManager(Config{URL: "http://h", HeaderFile: file}); err == nil {
		t.Error("a blank in a header's name is taken")
	}
	putText(t, file, "\ufeff# who we are\r\n\r\nAuthorization:  Bearer file:token  \r\nx-many: 1\nX-Many: 2\nX-Empty:")
	for _, tc := range []struct {
		userinfo string
		header   http.Header
		file     string
		want     []string // Authorization, X-Many, User-Agent, Accept, Host
	}{
		{"", nil, "", []string{"", "", "veloflux-mcp", "application/json", ""}},
		{"ann:s3%3Aret@", nil, "", []string{basic("ann:s3:ret"), "", "veloflux-mcp", "application/json", ""}},
		{"token@", nil, "", []string{basic("token:"), "", "veloflux-mcp", "application/json", ""}},
		{"ann:s3cret@", http.Header{"authorization": {"raw-token"}, "user-agent": {"x"}, "X-Many": {"a", " b\t"}}, "", []string{"raw-token", "a|b", "x", "application/json", ""}},
		{"ann:s3cret@", http.Header{"Authorization": {"raw-token"}, "X-Many": {"a"}}, file, []string{"Bearer file:token", "1|2", "veloflux-mcp", "application/json", ""}},
		{"", http.Header{"Host": {"velo.example:81"}, "Accept": {"*/*"}}, "", []string{"", "", "veloflux-mcp", "*/*", "velo.example:81"}},
	} {
		got := echoed(t, Config{URL: tc.userinfo, Header: tc.header, HeaderFile: tc.file}, "Authorization", "X-Many", "User-Agent", "Accept", "Host")
		if tc.want[4] == "" {
			got[4] = ""
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s %v: %s", tc.userinfo, tc.header, diff)
		}
	}
}

func putText(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestHeadersThatAreRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "headers")
	for _, tc := range []struct{ name, value, says string }{
		{"X-A", "s3cret\r\nHost: evil", "X-A has a line break"}, {"X-A", "s3cret\nx", "X-A has a line break"}, {"X-A", "s3cret\rx", "X-A has a line break"},
		{"X-A", "s3cret\x00", "X-A has a line break"}, {"X-A", "s3cret\x7f", "X-A has a line break"}, {"x-a", "\x1bs3cret", "X-A has a line break"},
		{"", "s3cret", "header name"}, {"X A", "s3cret", "header name"}, {"X\r\nB", "s3cret", "header name"}, {"X:", "s3cret", "header name"},
		{"名", "s3cret", "header name"}, {"X\x00", "s3cret", "header name"}, {"Bearer s3cret", "x", "header name"},
		{"content-length", "5", "Content-Length"}, {"Transfer-Encoding", "chunked", "Transfer-Encoding"}, {"Connection", "close", "header Connection"},
		{"Accept-Encoding", "br", "Accept-Encoding"}, {"Host", "a b", "header Host"}, {"Host", "a/b", "header Host"}, {"Host", "", "header Host"}, {"Host", "u@h", "header Host"},
	} {
		_, err := NewManager(Config{URL: "http://h", Header: http.Header{tc.name: {"fine", tc.value}}})
		checkUsage(t, err, tc.says)
		if strings.ContainsAny(tc.name+tc.value, "\r\n:\x00") || tc.name == "" {
			continue // such a line means something else
		}
		putText(t, file, "X-Fine: 1\n"+tc.name+": "+tc.value)
		_, err = NewManager(Config{URL: "http://h", HeaderFile: file})
		checkUsage(t, err, "The header file "+file+" cannot be used: line 2: ", tc.says)
	}
}

func checkUsage(t *testing.T, err error, says ...string) {
	t.Helper()
	f, ok := errors.AsType[*fault.Fault](err)
	if !ok || f.Type != fault.Usage || strings.Contains(f.Error(), "s3cret") {
		t.Errorf("%v is no such fault, want %q", err, says)
		return
	}
	for _, text := range says {
		if !strings.Contains(f.Message, text) {
			t.Errorf("%q does not say %q", f.Message, text)
		}
	}
}

func TestHeaderFilesThatAreNone(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "headers")
	_, err := NewManager(Config{URL: "http://h", HeaderFile: file})
	checkUsage(t, err, file, "no such file")
	for _, content := range []string{"Authorization: Bearer s3cret", "X-Api-Key:s3cret", "X-A: 1\nX-B: s3cret", "Bearer s3cret", strings.Repeat("s3cret", 50), filepath.Join(dir, "s3cret\r\n")} {
		_, err = NewManager(Config{URL: "http://h", HeaderFile: content})
		checkUsage(t, err, "header file is not a path")
	}
	named := filepath.Join(dir, "Name: value")
	putText(t, named, "wrong")
	_, err = NewManager(Config{URL: "http://h", HeaderFile: named})
	checkUsage(t, err, named, "line 1 has no colon")
	_, err = NewManager(Config{URL: "http://h", HeaderFile: dir})
	checkUsage(t, err, dir, "is a directory")
	putText(t, file, "\n\ns3cret")
	_, err = NewManager(Config{URL: "http://h", HeaderFile: file})
	checkUsage(t, err, "line 3 has no colon")
	putText(t, file, ": s3cret")
	_, err = NewManager(Config{URL: "http://h", HeaderFile: file})
	checkUsage(t, err, "line 1: A header name")
	putText(t, file, "X: "+strings.Repeat("y", maxHeaderFile))
	_, err = NewManager(Config{URL: "http://h", HeaderFile: file})
	checkUsage(t, err, "more than 1048576 bytes")
}

func TestHeaderFileIsReadForEachRequest(t *testing.T) {
	var got string
	s := serverOf(t, func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Get("Authorization")
		_, _ = w.Write([]byte("[]"))
	})
	file := filepath.Join(t.TempDir(), "headers")
	putText(t, file, "Authorization: Bearer old-token")
	m := managerFor(t, Config{URL: s.URL, HeaderFile: file})
	for _, token := range []string{"old-token", "new-token"} { // of one length, and perhaps at one time
		putText(t, file, "Authorization: Bearer "+token)
		if _, err := m.Streams(t.Context()); err != nil || got != "Bearer "+token {
			t.Errorf("%s: the Manager saw %q, %v", token, got, err)
		}
		if secrets := m.secrets(); !slices.Contains(secrets, token) {
			t.Errorf("%s: secrets %q", token, secrets)
		}
	}
	got = ""
	putText(t, file, "s3cret")
	_, err := m.Streams(t.Context())
	if e := failureOf(t, err); got != "" || e.Code != CodeToolFailed || !strings.Contains(e.Message, "GET /streams was not sent. The header file "+file+" cannot be used: line 1 has no colon") {
		t.Errorf("a wrong file: %+v, the Manager saw %q", e, got)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	_, err = m.Streams(t.Context())
	if e := failureOf(t, err); e.Code != CodeToolFailed || !strings.Contains(e.Message, "no such file") || !m.sendsCredentials() {
		t.Errorf("no file: %+v", e)
	}
}

func TestAPipeOfHeadersIsReadOnce(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	if _, err := w.WriteString("X-Many: once"); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	at := filepath.Join("/dev/fd", fdOf(r))
	if _, err := os.Stat(at); err != nil {
		t.Skip("there is no /dev/fd")
	}
	if got := echoed(t, Config{HeaderFile: at}, "X-Many"); got[0] != "once" {
		t.Errorf("the Manager saw %q", got)
	}
}

func TestSecretsAndCredentials(t *testing.T) {
	for _, tc := range []struct {
		url     string
		header  http.Header
		secrets []string
	}{
		{"h", nil, nil},
		{"h", http.Header{"accept": {"*/*"}, "Accept-Language": {"de"}, "User-Agent": {"x"}, "host": {"h"}, "Content-Type": {"x"}, "x-request-id": {"1"}, "traceparent": {"2"}}, nil},
		{"h", http.Header{"X-Tenant": {"acme"}}, []string{}}, // too short to be found inside a text
		{"h", http.Header{"X-Session-Id": {"sid-123456"}, "X-Sid": {"sid-234567"}, "X-Bearer": {"Bearer b-123456"}, "Dpop": {"d-123456"}, "X-Auth-Header": {"h-123456"}}, []string{"sid-123456", "sid-234567", "Bearer b-123456", "b-123456", "d-123456", "h-123456"}},
		{"h", http.Header{"X-Api-Key-1": {"k-123456"}, "X-Otp": {"123456"}, "X-Ticket": {"t-123456"}, "Authn": {"a-123456"}, "X-Forwarded-User": {"ann.smith"}}, []string{"k-123456", "123456", "t-123456", "a-123456", "ann.smith"}},
		{"h", http.Header{"X-Forwarded-User": {"ann"}}, []string{}},
		{"ann:p%40ss@h", nil, []string{basic("ann:p@ss"), basic("ann:p@ss")[6:], "ann:p@ss", "p@ss"}},
		{"ghp_token@h", nil, []string{basic("ghp_token:"), basic("ghp_token:")[6:], "ghp_token"}},
		{"h", http.Header{"authorization": {"Bearer abc def"}}, []string{"Bearer abc def", "abc def"}},
		{"h", http.Header{"Authorization": {"bare"}}, []string{"bare"}},
		{"h", http.Header{"Cookie": {`a=b; session="xyz"; none`}}, []string{`a=b; session="xyz"; none`, "b", "xyz"}},
		{"h", http.Header{"X-Api-Key": {"k1"}, "X-Auth-Token": {"k2"}, "X-Csrftoken": {"k3"}, "X-Vault-Token": {"k4"}, "X-Session-Id": {"no"}}, []string{"k1", "k2", "k3", "k4"}},
		{"ann:lost@h", http.Header{"Authorization": {"Bearer abc"}}, []string{"Bearer abc", "abc", "ann:lost", "lost"}},
	} {
		m := managerFor(t, Config{URL: tc.url, Header: tc.header})
		got := m.secrets()
		slices.Sort(got)
		slices.Sort(tc.secrets)
		if diff := cmp.Diff(tc.secrets, got, cmpopts.EquateEmpty()); diff != "" || m.sendsCredentials() != (tc.secrets != nil) {
			t.Errorf("%s %v: credentialed %v %s", tc.url, tc.header, m.sendsCredentials(), diff)
		}
	}
}

func TestNoErrorShowsASecret(t *testing.T) {
	s := serverOf(t, func(w http.ResponseWriter, r *http.Request) {
		_, password, _ := r.BasicAuth()
		http.Error(w, strings.Join([]string{password, r.Header.Get("Authorization"), r.Header.Get("X-Api-Key"), strings.Repeat("x", 2000)}, " "), http.StatusTeapot)
	})
	m := managerFor(t, Config{URL: strings.Replace(s.URL, "://", "://ann:s3cret@", 1), Header: http.Header{"X-Api-Key": {"k-12345678"}}})
	_, err := m.Streams(t.Context())
	e := failureOf(t, err)
	response, _ := e.Details["response"].(string)
	for _, secret := range m.secrets() {
		if strings.Contains(e.Message, secret) || strings.Contains(response, secret) {
			t.Errorf("%+v shows %q", e, secret)
		}
	}
	if !strings.HasPrefix(response, "<redacted> ") {
		t.Errorf("%+v", e)
	}
}

// TestNoBorderShowsASecret has secrets that cross the end of an error's text: where the text is cut, and where the
// response is broken off.
func TestNoBorderShowsASecret(t *testing.T) {
	const secret = "Bearer k-0123456789abcdef"
	for _, begin := range []int{2, 5, 12, 20, len(secret)} {
		part := secret[:begin]
		shown := part
		if begin >= 4 {
			shown = "<redacted>"
		}
		for name, tc := range map[string]struct{ answer, want string }{
			"the border":           {"HTTP/1.1 500 x\r\n\r\n" + strings.Repeat(" ", maxQuoted-begin) + secret, shown},
			"after many cuts":      {"HTTP/1.1 500 x\r\n\r\n" + strings.Repeat("…", 200) + strings.Repeat("\x01", maxQuoted-600-begin) + secret, strings.Repeat("…", 200) + shown},
			"a broken failure":     {"HTTP/1.1 500 x\r\nContent-Length: 900\r\n\r\nboo " + part, "boo " + shown},
			"a broken success":     {"HTTP/1.1 200 x\r\nContent-Length: 900\r\n\r\nboo " + part, "boo " + shown},
			"not beyond what ends": {"HTTP/1.1 500 x\r\nContent-Length: 11\r\n\r\nboo Bearing", "boo Bearing"},
		} {
			m := managerFor(t, Config{URL: speaks(t, tc.answer), Header: http.Header{"Authorization": {secret}}})
			if e := failureOf(t, asStreams(t.Context(), m)); e.Details["response"] != tc.want || begin >= 12 && strings.Contains(e.Message, "Bearer") {
				t.Errorf("%s, %d bytes: %.200q, %.200q", name, begin, e.Message, e.Details["response"])
			}
		}
	}
}

func fdOf(f *os.File) string { return strconv.Itoa(int(f.Fd())) }

func TestNoConnectionShowsASecret(t *testing.T) {
	const secret = "k-12345678"
	e := failureOf(t, asStreams(t.Context(), managerFor(t, Config{URL: speaks(t, "HTTP/1.1 "+secret+" x\r\n\r\n"), Header: http.Header{"X-Api-Key": {secret}}})))
	if strings.Contains(e.Message, secret) || !strings.Contains(e.Message, `malformed HTTP status code "<redacted>"`) {
		t.Errorf("%+v", e)
	}
}
