package redact

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/pflow-suite/pflow/internal/cputime"
)

// X stands for the secret.
var credentialTexts = map[string]string{
	"https://me:X@host/path":              "https://<redacted>@host/path",
	"see http://me:X@host:80, it":         "see http://<redacted>@host:80, it",
	"redis://:X@h":                        "redis://<redacted>@h",
	"postgres://u:a/bX@h/db?x=1":          "postgres://<redacted>@h/db?x=1",
	"postgres://u:a@bX@h/db":              "postgres://<redacted>@h/db",
	"https://X@github.com/a":              "https://<redacted>@github.com/a",
	`{"u":"http:\/\/me:X@h\/"}`:           `{"u":"http:\/\/<redacted>@h\/"}`,
	"http://${user}:X@h":                  "http://<redacted>@h",
	"GET /a?token=X HTTP/1.1":             "GET /a?token=<redacted> HTTP/1.1",
	"/a?b=1&key=X&c=2":                    "/a?b=1&key=<redacted>&c=2",
	"/a?SID=X#top":                        "/a?SID=<redacted>#top",
	"/a?b&amp;api_key=X":                  "/a?b&amp;api_key=<redacted>",
	`/a?b=1\u0026accessToken=X`:           `/a?b=1\u0026accessToken=<redacted>`,
	`{"url":"/a?client_secret=X"}`:        `{"url":"/a?client_secret=<redacted>"}`,
	"(http://h/?apikey=X)":                "(http://h/?apikey=<redacted>)",
	"password=X&name=me":                  "password=<redacted>&name=me",
	"data:\ntoken=X&name=me":              "data:\ntoken=<redacted>&name=me",
	"Cookie: theme=dark; sid=X; lang=en":  "Cookie: theme=dark; sid=<redacted>; lang=en",
	"cookie: PHPSESSID=X":                 "cookie: PHPSESSID=<redacted>",
	"Set-Cookie: sid=X; Path=/; HttpOnly": "Set-Cookie: sid=<redacted>; Path=/; HttpOnly",
	"SET-COOKIE: a=b; Expires=Wed, 21 Oct 2015 07:28:00 GMT; auth_token=X": "SET-COOKIE: a=b; Expires=Wed, 21 Oct 2015 07:28:00 GMT; auth_token=<redacted>",
	"curl -H 'Cookie: sid=X' h":                   "curl -H 'Cookie: sid=<redacted>' h",
	`curl --cookie "a=b;connect.sid=X"`:           `curl --cookie "a=b;connect.sid=<redacted>"`,
	`document.cookie = "token=X; b=c"`:            `document.cookie = "token=<redacted>; b=c"`,
	`{"Cookie":"sid=\"X\"; a=b"}`:                 `{"Cookie":"sid=\"<redacted>\"; a=b"}`,
	`"set-cookie":["a=b","sid=X; Path=/"]`:        `"set-cookie":["a=b","sid=<redacted>; Path=/"]`,
	`{\"cookie\":\"sid=X; a=b\"}`:                 `{\"cookie\":\"sid=<redacted>; a=b\"}`,
	"cookies: 2 received, Set-Cookie: sid=X":      "cookies: 2 received, Set-Cookie: sid=<redacted>",
	"cookies: none Set-Cookie: sid=X; a=b":        "cookies: none Set-Cookie: sid=<redacted>; a=b",
	"sid=X; path=/; secure":                       "sid=<redacted>; path=/; secure",
	"https://h/?next=https%3A%2F%2Fme%3AX%40h%2F": "https://h/?next=https%3A%2F%2F<redacted>%40h%2F",
	"https://h/?next=%2Fcb%3Ftoken%3DX%26a%3Db":   "https://h/?next=%2Fcb%3Ftoken%3D<redacted>%26a%3Db",
	"to https%3a%2f%2fh%2f%3fkey%3dX, it":         "to https%3a%2f%2fh%2f%3fkey%3d<redacted>, it",
	"/a?u=%252Fb%253Fsid%253DX&c=d":               "/a?u=%252Fb%253Fsid%253D<redacted>&c=d",
	"https://me%3AX%40h/":                         "https://<redacted>%40h/",
}

func TestCredentialsAreFoundByTheirPlace(t *testing.T) {
	for text, want := range credentialTexts {
		in := strings.ReplaceAll(text, "X", "Zq7xUW2mJ")
		for name, got := range map[string]string{"text": New().Text(in), "stream": streamed(t, in, len(in)), "bytes": streamed(t, in, 1)} {
			if got != want {
				t.Errorf("%s of %s:\n got %s\nwant %s", name, in, got, want)
			}
		}
		quoted, _ := json.Marshal(map[string]string{"a": in})
		clean, changed := New().JSON(quoted)
		var doc map[string]string
		if err := json.Unmarshal(clean, &doc); err != nil || !changed || doc["a"] != want {
			t.Errorf("JSON of %s:\n got %s\nwant %s", in, doc["a"], want)
		}
	}
}

// streamed passes a text through a Writer, some bytes at a time.
func streamed(t *testing.T, text string, size int) string {
	t.Helper()
	var out bytes.Buffer
	w := New().Writer(&out)
	for rest := text; rest != ""; {
		n := min(size, len(rest))
		if _, err := io.WriteString(w, rest[:n]); err != nil {
			t.Fatal(err)
		}
		rest = rest[n:]
	}
	if err := w.Close(); err != nil || w.Redacted() != (out.String() != text) {
		t.Fatal(err, w.Redacted())
	}
	return out.String()
}

func TestTextsThatStayAsTheyAre(t *testing.T) {
	for _, text := range []string{
		"https://host/a/token/key", "https://host:8080/@scope/pkg", "https://medium.com/@user/a:b@c", "ssh://git@github.com/a/b.git", "git@github.com:a/b.git",
		"https://host/?mail=me@host.org", "https://host?keyboard=us&monkey=1&donkey=2", "http://[::1]:80/a@b", "http://localhost:3000/a@b:c",
		"keyboard=us", "monkey=1", "sort -k key=name", "key=value", "a=1&b=2", "token = next()", "if (key==x) sid=1", "SID=1 make", "max_tokens=5&author=me",
		"/a?max_tokens=5&primary_key=7&sort_key=a&author=me&tokenizer=b", "x ? key : 1", "?token=", "?token=&a=b", "?token=${t}&a=b", `curl "http://h/?token=$TOKEN"`,
		"http://${user}:${password}@h", "http://u:$PASSWORD@h", "http://u:<redacted>@h", "/a?token=<redacted>&b=c", "/a?key={key}&b=c", "/a?key=***",
		"Cookie: theme=dark; lang=en", "We like cookies: they are sweet", "cookie.key=1", "Set-Cookie: a=b; Path=/", "The cookie is good; key=1",
		"token: abc", "password", "me@host.org", "a@b=c", "key=1; other", "sid=1; other=2", "2 ** 3 == 8 && key != 1",
		"token=$(cat file)", "API_TOKEN=abc make", "mailto:me@host.org?subject=x", "user:pass@host", "Server=h;Password=abc;", "scp me:file@2 x",
		"https://h/?mail=me%40host.org", "/a?q=key%3Dvalue", "%3D%40%3A%2F%2F%", "100%40", "https%3A%2F%2Fh%2F%3Fa%3Db%26monkey%3D1", "?u=%2Fcb%3Ftoken%3D%24%7Bt%7D", "http%3A%2F%2Fu%3A%24PASSWORD%40h",
	} {
		if got := New().Text(text); got != text {
			t.Errorf("%s became %s", text, got)
		}
		if got := streamed(t, text, 1); got != text {
			t.Errorf("stream: %s became %s", text, got)
		}
		raw, _ := json.Marshal(text)
		if got, changed := New().JSON(raw); changed {
			t.Errorf("JSON: %s became %s", raw, got)
		}
	}
}

func TestCookiesUnderTheirNamesInJSON(t *testing.T) {
	in := `{"headers":{"set-cookie":["a=b","sid=Zq7xUW2mJ; x=1"],"Cookie":"jwt=Zq7xUW2mJ","other":"sid=1; x=1"}}`
	want := `{"headers":{"set-cookie":["a=b","sid=<redacted>; x=1"],"Cookie":"jwt=<redacted>","other":"sid=1; x=1"}}`
	if got, _ := New().JSON(json.RawMessage(in)); string(got) != want {
		t.Errorf("%s", got)
	}
	if got, _ := New().JSON(json.RawMessage(`{"u":"http://a:Zq7xUW2mJ\u0040h/?token\u003dabc"}`)); string(got) != `{"u":"http://<redacted>@h/?token=<redacted>"}` {
		t.Errorf("%s", got)
	}
}

func TestPartsOfASecret(t *testing.T) {
	const password = "Zq7xUW2mJ"
	for value, inIt := range map[string]string{
		"postgres://u:" + password + "@h/db":                      password,
		"postgres://u:Zq7x%2FUW%40J@h/db?sslmode=off":             "Zq7x/UW@J",
		"redis://:" + password + "@h":                             password,
		"Server=db;Database=x;User Id=u;Password=" + password:     password,
		"Server=db; PWD = " + password + "; Encrypt=yes":          password,
		`Server=db;Password="Zq7x;UW2mJ";x=y`:                     "Zq7x;UW2mJ",
		"AccountName=n;AccountKey=Zq7xUW2mJ==;Suffix=x":           "Zq7xUW2mJ==",
		"u:" + password + "@tcp(h:3306)/db":                       password,
		"u:Zq7x@UW:mJ@unix(/sock)/db":                             "Zq7x@UW:mJ",
		"host=h user=u password=" + password + " dbname=d":        password,
		"host=h password='Zq7x UW2mJ' dbname=d":                   "Zq7x UW2mJ",
		"https://h/v1?api_key=" + password:                        password,
		"sqlserver://h?user=u&password=" + password:               password,
		"first-line-1\n  second-line-2\r\n" + password + "\nlast": password,
		"A=1\nDATABASE_URL=mysql://u:" + password + "@h/d\nB=2":   password,
	} {
		r := New()
		r.Add("DSN", value)
		for text, want := range map[string]string{"it is " + inIt + ".": "it is " + Mark + ".", "all: " + value + " !": "all: " + Mark + " !"} {
			if got := r.Text(text); got != want {
				t.Errorf("%q of %q: got %q", text, value, got)
			}
		}
	}
	r := New()
	r.Add("KEY", "-----BEGIN KEY-----\nfirst-line\nab\n======\n-----END KEY-----\n")
	for _, text := range []string{"-----BEGIN KEY-----", "x ab y", "a ====== b", "user"} {
		if got := r.Text(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestCredentialsBecomeKnown(t *testing.T) {
	r := New()
	r.AddCredentialsOf(json.RawMessage(`{"url":"http://me:Zq7xUW2mJ@h/?token=kWn2bVd8","db":"u:unknown1@tcp(h)","n":1}`))
	if got := r.Text("Zq7xUW2mJ kWn2bVd8 unknown1"); got != "<redacted> <redacted> unknown1" {
		t.Error(got)
	}
	r = New()
	r.AddCredentialsOf(json.RawMessage(`{"u":"/?a=http%3A%2F%2Fme%3AZq7x%2540UW2mJ%40h","headers":{"Cookie":"a=b; sid=kWn2bVd8"}}`))
	if got := r.Text("Zq7x@UW2mJ Zq7x%40UW2mJ kWn2bVd8"); got != "<redacted> <redacted> <redacted>" {
		t.Error(got)
	}
	r = New()
	r.Add("Authorization", "Bearer Zq7xUW2mJ")
	r.Add("Authorization", "basic bWU6a1duMmJWZDg=") // me:kWn2bVd8
	r.Add("pin", "Bearer of news")
	if got := r.Text("Zq7xUW2mJ kWn2bVd8 of news"); got != "<redacted> <redacted> of news" {
		t.Error(got)
	}
	r = New()
	r.AddConnection("DB", "u:Zq7xUW2mJ@tcp(h)/d")
	r.AddConnection("PLAIN", "just-a-text")
	if got := r.Text("u:Zq7xUW2mJ@tcp(h)/d Zq7xUW2mJ just-a-text"); got != "<redacted> <redacted> just-a-text" {
		t.Error(got)
	}
}

// Each item of a batch may have another one.
func TestLearningEnds(t *testing.T) {
	r := New()
	for i := range 10 * maxLearned {
		r.AddCredentials(fmt.Sprintf("http://h/?key=Zq7xUW2mJ%d", i))
	}
	if n := len(r.known.Load().whole); n != maxLearned {
		t.Errorf("%d secrets are known", n)
	}
	if got := r.Text("http://h/?key=Zq7xUW2mJ9999 Zq7xUW2mJ999-"); got != "http://h/?key=<redacted> <redacted>-" {
		t.Error(got)
	}
}

func TestALongCredentialIsDroppedToItsEnd(t *testing.T) {
	value := strings.Repeat("Zq7x", 3*maxOpen)
	for _, size := range []int{len(value) + 100, 32 << 10, 1000} {
		if got := streamed(t, "a ?token="+value+"&b=c d", size); got != "a ?token=<redacted>&b=c d" && !strings.HasPrefix(got, "a ?token=<redacted>&b=c d") {
			t.Errorf("%d: %d bytes: %.200s", size, len(got), got)
		}
	}
	if got := streamed(t, "http://"+value, 1000); got != "http://"+value {
		t.Error("an authority without a password is not itself")
	}
}

func TestAStreamIsRedactedAsItsTextIs(t *testing.T) {
	var texts []string
	for text := range credentialTexts {
		texts = append(texts, text)
	}
	for range 300 {
		var all strings.Builder
		for range rand.IntN(20) {
			all.WriteString(strings.ReplaceAll(texts[rand.IntN(len(texts))], "X", "Zq7xUW2mJ") + "\n")
		}
		if got, want := streamed(t, all.String(), 1+rand.IntN(40)), New().Text(all.String()); got != want {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
	}
}

// Texts that are made to be searched slowly take as long as others.
func TestHostileTexts(t *testing.T) {
	for name, part := range map[string]string{
		"authorities": "http://a:b/", "passwords": "://u:p@", "escaped": `x:\/\/u:p`, "values": "token=", "queries": "?token=$", "forms": "&token=x", "cookies": "cookie:",
		"pairs": "Cookie: sid=a;", "quotes": `cookie="a=b",`, "marks": "?key=", "set": "sid=a; path", "names": "tokentoken", "equals": "d=", "mixed": "://a:b/?token=cookie=",
		"encoded": "%3D", "encoded often": "%2525253D%252540", "encoded URLs": "x%3A%2F%2Fa:b%40?token%3D", "encoded words": "%3Dtoken%3D ", "almost encoded": "%25",
	} {
		text := strings.Repeat(part, 1<<20/len(part))
		d := cputime.Of(func() {
			New().Text(text)
			streamed(t, text, 32<<10)
		})
		if d > 5*time.Second {
			t.Errorf("%s: %v for 2 MiB", name, d)
		}
	}
	text := "?token=" + strings.Repeat("x", 20<<10)
	if got := streamed(t, text, 1); got != "?token=<redacted>" {
		t.Errorf("%.100s", got)
	}
}

func BenchmarkWriter(b *testing.B) {
	for name, line := range map[string]string{
		"text":    "2026-11-22 17:00:00 INFO some ordinary text with words of github, n=12345\n",
		"queries": "GET https://host.example/a/b?monkey=12&keyboard=us&a=b&c=d HTTP/1.1 200\n",
		"secrets": "GET https://me:Zq7xUW2mJ@host/a/b?token=kWn2bVd8&a=b HTTP/1.1 200\n",
	} {
		r := New()
		for i := range 10 {
			r.Add("k", fmt.Sprintf("ghp_%dabcdefXYZ%d", i, i*7919))
		}
		chunk := []byte(strings.Repeat(line, 32<<10/len(line)))
		b.Run(name, func(b *testing.B) {
			w := r.Writer(io.Discard)
			b.SetBytes(int64(len(chunk)))
			b.ReportAllocs()
			for b.Loop() {
				_, _ = w.Write(chunk)
			}
		})
	}
}

func TestCredentialsInBytes(t *testing.T) {
	content := "\xff token: /?token=Zq7xUW2mJ\n"
	raw, _ := json.Marshal(map[string][]byte{"$base64": []byte(content), "other": []byte("plain")})
	clean, changed := New().JSON(raw)
	var got map[string][]byte
	if err := json.Unmarshal(clean, &got); err != nil || !changed || string(got["$base64"]) != "\xff token: /?token=<redacted>\n" || string(got["other"]) != "plain" {
		t.Errorf("%s %v", clean, err)
	}
}

func TestFor(t *testing.T) {
	r := For(map[string]string{"plain": "Zq7xUW2mJ"}, []string{"MY_TOKEN=kWn2bVd8", "A_TOKEN=short", "http_proxy=http://me:hunter22@h:1", "OTHER=visible"})
	if got := r.Text("Zq7xUW2mJ kWn2bVd8 short hunter22 visible"); got != "<redacted> <redacted> short <redacted> visible" {
		t.Error(got)
	}
}
