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
		{`{"id"`, 400, refused + "?: EOF while parsing an object at line 1 column 5"},
		{"{\"id\":\n  nope}", 400, refused + "id: expected value at line 2 column 3"},
		{`{"id":"x","sinks":[{"type"`, 400, refused + "sinks[0].?: EOF while parsing an object at line 1 column 26"},
		{`{"id":"x","sinks":[{"type":"nop"},]}`, 400, refused + "sinks: trailing comma at line 1 column 35"},
		{"{\"id\":\"\xff\"}", 400, refused + ".: invalid unicode code point"},
		{strings.Repeat("[", 1000), 400, refused + strings.Repeat("[0]", 128) + ": recursion limit exceeded at line 1 column 128"},
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

func FuzzJSON(f *testing.F) {
	for _, in := range []string{`{"a":[1,-2.5e3,"\u00e9\n",null,true,{}],"b":{"c":""}}`, `[`, `{"a" : }`, `"\x"`, ` 1 `, `[1 2]`} {
		f.Add(in)
	}
	f.Fuzz(func(t *testing.T, in string) {
		v, wrong := readJSON(in)
		if (v == nil) == (wrong == nil) {
			t.Fatal("neither a value nor an error, or both")
		}
		if json.Valid([]byte(in)) && utf8.ValidString(in) && strings.Count(in, "[")+strings.Count(in, "{") < 100 {
			if wrong != nil {
				t.Fatalf("%s at %d", wrong.message, wrong.at)
			}
			if v.raw != strings.Trim(in, " \t\r\n") {
				t.Fatalf("%q", v.raw)
			}
		}
		if v != nil && !json.Valid([]byte(v.raw)) {
			t.Fatalf("%q is taken", v.raw)
		}
	})
}
