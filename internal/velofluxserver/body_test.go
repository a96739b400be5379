package velofluxserver

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestBody(t *testing.T) {
	const refused, other = "Failed to parse the request body as JSON: ", "Failed to deserialize the JSON body into the target type: "
	for _, c := range []struct {
		body   string
		status int
		want   string
	}{
		{``, 400, refused + ".: EOF while parsing a value at line 1 column 0"},
		{`{"id":`, 400, refused + "id: EOF while parsing a value at line 1 column 6"},
		{"{\"id\":\n  nope}", 400, refused + "?: expected value at line 2 column 4"},
		{"{\"id\":\"\xff\"}", 400, refused + ".: invalid unicode code point"},
		{`{"id":"x","id":"y"}`, 422, other + ".: duplicate field `id` at line 1 column 14"},
		{`"x"`, 422, other + `.: invalid type: string "x", expected struct CreatePipelineRequest at line 1 column 3`},
		{`{"id":"x","sql":"y","sinks":[1]}`, 422, other + "sinks[0]: invalid type: integer `1`, expected struct CreatePipelineSinkRequest at line 1 column 30"},
		{`{"id":"x","sql":"y","options":{"data_channel_capacity":1.5}}`, 422, other + "options.data_channel_capacity: invalid type: floating point `1.5`, expected usize at line 1 column 58"},
		{`{"id":null,"sql":"y"}`, 422, other + "id: invalid type: null, expected a string at line 1 column 10"},
		{`{"id":"` + strings.Repeat("x", maxBody) + `"}`, 413, "Failed to buffer the request body: length limit exceeded"},
	} {
		if status, got := create(New(), c.body); status != c.status || !strings.HasPrefix(got, c.want) {
			t.Errorf("%.80s: %d %s, not %d %s", c.body, status, got, c.status, c.want)
		}
	}
}

// The definition comes back unchanged except for the order of names in maps.
func TestSpecKeepsValues(t *testing.T) {
	s := New()
	const sql = `SELECT a, '<é>&\u0001' AS t FROM user`
	s.AddStatement(Statement{SQL: sql})
	status, text := create(s, `{"id":"p","sql":`+string(quoted(sql))+`,"sinks":[{"type":"nop","props":{"z":12345678901234567890,"b":1.50}}]}`)
	if status != http.StatusCreated {
		t.Fatal(text)
	}
	got := string(marshal(s.pipelines["p"].spec))
	for _, want := range []string{`"props":{"b":1.50,"z":12345678901234567890}`, string(quoted(sql))} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not in %s", want, got)
		}
	}
}

// FuzzBody asserts that any body gets an answer of the Manager's.
func FuzzBody(f *testing.F) {
	for _, in := range []string{`{"a":[1,-2.5e3,"\u00e9\n",null,true,{}],"b":{"c":""}}`, `[`, `{"a" : }`, `"\x"`, ` 1 `, `[1 2]`, `{"id":"p","sql":"SELECT a FROM user","sinks":[{"type":"nop"}],"sources":[{"stream":"user"}]}`} {
		f.Add(in)
	}
	f.Fuzz(func(t *testing.T, in string) {
		status, text := create(New(), in)
		if text == "" || json.Valid([]byte(in)) && utf8.ValidString(in) && strings.Contains(text, "as JSON") {
			t.Fatalf("%d %s", status, text)
		}
	})
}
