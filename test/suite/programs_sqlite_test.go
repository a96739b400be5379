package suite

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// sqlite runs the example pflow-node-sqlite with some parameters.
func (p *place) sqlite(params string) outcome {
	p.Helper()
	path, err := filepath.Abs(filepath.Join("..", "..", "examples", "pflow-node-sqlite"))
	if err != nil {
		p.Fatal(err)
	}
	return p.fed(`{"v":1,"params":`+params+`}`, path)
}

func TestSQLite(t *testing.T) {
	needs(t, "sqlite3", "python3")
	t.Parallel()
	p := newPlace(t)
	for _, c := range []struct{ params, want string }{
		{`{"database":"a.db","query":"CREATE TABLE t(a,b);\nINSERT INTO t VALUES(1,2),(3,4); -- two"}`, `{"rows":[],"count":0,"changes":2}`},
		{`{"database":"a.db","query":"SELECT a FROM t; SELECT a, b FROM t WHERE a > 1","readonly":true}`, `{"rows":[{"a":3,"b":4}],"count":1,"changes":0}`},
		{`{"database":"a.db","query":"INSERT INTO t VALUES(:a,:b)","args":{"a":"'); DROP TABLE t; --","b":"\n.shell touch pwned\n"}}`, `{"rows":[],"count":0,"changes":1}`},
		{`{"database":"a.db","query":"SELECT count(*) AS n, max(a) AS a FROM t"}`, `{"rows":[{"n":3,"a":"'); DROP TABLE t; --"}],"count":1,"changes":0}`},
		{`{"database":":memory:","query":"SELECT ?1 a, ?2 b, ?3 c, ?4 d, ?5 e, ?6 f, ?7 g, ?8 h","args":[9223372036854775807,2.5,null,true,"é\" ' \\",{"base64":"/wA="},[1,{"x":2}],"2.50"]}`,
			`{"rows":[{"a":9223372036854775807,"b":2.5,"c":null,"d":1,"e":"é\" ' \\","f":{"base64":"/wA="},"g":"[1, {\"x\": 2}]","h":"2.50"}],"count":1,"changes":0}`},
		{`{"database":":memory:","query":"SELECT hex(?1) AS h, length(CAST(?1 AS BLOB)) AS n","args":["a\u0000b"]}`, `{"rows":[{"h":"610062","n":3}],"count":1,"changes":0}`},
		{`{"database":"-odd.db","query":"SELECT 1 AS n WHERE 0"}`, `{"rows":[],"count":0,"changes":0}`},
	} {
		o := p.sqlite(c.params)
		if got := compacted(o.stdout); o.exit != 0 || got != gjson.Get(c.want, "@ugly").Raw {
			t.Errorf("%s\ngives %s\nnot %s\n%s", c.params, got, c.want, o)
		}
	}
	for _, c := range []struct{ params, want string }{
		{`{"database":"a.db","query":"SELECT 1;\nSELECT * FROM missing"}`, `no such table: missing (the statement ends at or behind line 2 of the query)`},
		{`{"database":"a.db","query":"SELEC 1"}`, `near "SELEC": syntax error`},
		{`{"database":"a.db","query":"SELECT 'open"}`, `unrecognized token: "'open`},
		{`{"database":"a.db","query":"SELECT 1 /* open"}`, `The query is not complete`},
		{`{"database":"a.db","query":"SELECT 1;\n.shell touch pwned"}`, `Line 2 of the query begins with .`},
		{`{"database":"a.db","query":"SELECT load_extension('x')"}`, `cannot use the load_extension() function in safe mode`},
		{`{"database":"a.db","query":"DELETE FROM t","readonly":true}`, `attempt to write a readonly database`},
		{`{"database":"nothing.db","query":"SELECT 1","readonly":true}`, `unable to open database`},
		{`{"database":"a.db","query":"SELECT ?1","args":[36893488147419103232]}`, `36893488147419103232 is larger than SQLite's integers`},
		{`{"database":"a.db","query":"SELECT ?1","args":7}`, `"args" is neither a list nor an object`},
	} {
		o := p.sqlite(c.params)
		f := gjson.Get(o.stdout, "error")
		if o.exit != 1 || !strings.Contains(f.Get("message").Str, c.want) || f.Get("retryable").Bool() || len(f.Get("suggestions").Array()) == 0 {
			t.Errorf("%s gives %s", c.params, o)
		}
	}
	if p.read("pwned") != "" || len(p.listed("pwned")) > 0 {
		t.Error("a value has become a command")
	}
}

// listed returns the files of the place that match.
func (p *place) listed(pattern string) []string {
	p.Helper()
	found, err := filepath.Glob(filepath.Join(p.dir, pattern))
	if err != nil {
		p.Fatal(err)
	}
	return found
}

// compacted returns a JSON document without white space and without unnecessary escapes.
func compacted(text string) string {
	return strings.ReplaceAll(gjson.Get(text, "@ugly").Raw, `\u00e9`, "é")
}

func TestALockedDatabaseIsWorthAnotherTry(t *testing.T) {
	needs(t, "sqlite3", "python3")
	t.Parallel()
	p := newPlace(t)
	p.sqlite(`{"database":"a.db","query":"CREATE TABLE t(a)"}`)
	holder := p.command("sqlite3", "a.db")
	in, err := holder.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Write([]byte("BEGIN EXCLUSIVE;\n.output held\n.print yes\n.output\n")); err != nil {
		t.Fatal(err)
	}
	p.eventually("it is locked", func() bool { return p.read("held") != "" })
	o := p.sqlite(`{"database":"a.db","query":"INSERT INTO t VALUES(1)","busy_timeout":0.05}`)
	if f := gjson.Get(o.stdout, "error"); o.exit != 1 || f.Get("type").Str != "conflict" || !f.Get("retryable").Bool() {
		t.Error(o)
	}
	_ = in.Close()
	if o := p.sqlite(`{"database":"a.db","query":"INSERT INTO t VALUES(1)","busy_timeout":20}`); gjson.Get(o.stdout, "changes").Int() != 1 {
		t.Error(o)
	}
	if err := holder.Wait(); err != nil {
		t.Error(err)
	}
}
