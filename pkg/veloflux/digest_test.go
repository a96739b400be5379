package veloflux

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

var fetched = time.Date(2026, 11, 22, 5, 6, 7, 8_999_999, time.FixedZone("", 2*60*60))

// recordedBody returns a response of a real Manager.
func recordedBody(t testing.TB, name string) []byte {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "veloflux", "bodies", name))
	if os.IsNotExist(err) {
		t.Skip("no recorded bodies beside the repository")
	}
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// digests returns every digest as a function of only a body.
func digests() map[string]func([]byte) (json.RawMessage, error) {
	return map[string]func([]byte) (json.RawMessage, error){
		"functions": functionsDigest,
		"syntax":    syntaxDigest,
		"snapshot":  func(body []byte) (json.RawMessage, error) { return streamsSnapshot(body, fetched) },
		"schema":    func(body []byte) (json.RawMessage, error) { return streamSchema("s", body) },
	}
}

func TestDigestRules(t *testing.T) {
	for _, c := range []struct{ name, digest, body, want string }{
		{"no functions", "functions", ` [] `, `{"functions":[]}`},
		{
			"what a function keeps, and the order", "functions",
			`[{"requirements":[ {"kind" : "x<&>"} ],"description":"d","name":"z","kind":"stateful","aliases":["b", "a"],"signature":{"args":[{"optional":true},{"variadic":true}]},` +
				`"allowed_contexts":["select"],"examples":["e"],"stateful":{}},{"name":"a","kind":"scalar","signature":{"args":[]}}]`,
			`{"functions":[{"name":"z","kind":"stateful","aliases":["b","a"],"arg_count":2,"allowed_contexts":["select"],"requirements":[{"kind":"x<&>"}]},` +
				`{"name":"a","kind":"scalar","aliases":[],"arg_count":0,"allowed_contexts":[],"requirements":[]}]}`,
		},
		{
			"a function with nothing but a name", "functions", `[{"name":"é\u00e9\"","aliases":null,"signature":{"args":"any"}},{"name":"n","kind":7}]`,
			`{"functions":[{"name":"é\u00e9\"","kind":"","aliases":[],"arg_count":null,"allowed_contexts":[],"requirements":[]},` +
				`{"name":"n","kind":"","aliases":[],"arg_count":null,"allowed_contexts":[],"requirements":[]}]}`,
		},
		{"numbers keep their spelling", "functions", `[{"name":"n","requirements":[9007199254740993, 1.50]}]`, `{"functions":[{"name":"n","kind":"","aliases":[],"arg_count":null,"allowed_contexts":[],"requirements":[9007199254740993,1.50]}]}`},
		{"an empty tree", "syntax", `{"constructs":[]}`, `{"dialect":"","ir":"","constructs":[]}`},
		{
			"what a node keeps, and the order", "syntax",
			`{"ir":"I","extra":1,"dialect":"D","constructs":[{"syntax":["a <b>"],"id":"select.where","title":"T","type":"feature","constraints":["c"],"placement":{"clause" : "W"},` +
				`"semantics":"s & s","status":"partial","purpose":"p","workarounds":["w"],"examples":["e"],"emits_plan_nodes":["n"]}]}`,
			`{"dialect":"D","ir":"I","constructs":[{"id":"select.where","type":"feature","title":"T","status":"partial","semantics":"s & s","placement":{"clause":"W"},"constraints":["c"],"syntax":["a <b>"]}]}`,
		},
		{
			"empty parts are left out", "syntax",
			`{"constructs":[{"id":"from","type":"group","title":"F","status":"","semantics":" \n ","placement":{ },"constraints":[ ],"syntax":null,"children":[]}]}`,
			`{"dialect":"","ir":"","constructs":[{"id":"from","type":"group","title":"F"}]}`,
		},
		{
			"type falls back to kind, and to nothing", "syntax",
			`{"constructs":[{"id":"expr","kind":"group","title":"E"},{"id":"window"},{"id":"statement","type":"t","kind":"k"}]}`,
			`{"dialect":"","ir":"","constructs":[{"id":"expr","type":"group","title":"E"},{"id":"window","type":"","title":""},{"id":"statement","type":"t","title":""}]}`,
		},
		{
			"a node stays by its id", "syntax",
			`{"constructs":[{"id":"selection"},{"id":"Select"},{"id":"join"},{"id":".select"},{"title":"no id"},{"id":7},{"id":"select."},{"id":"expr.a.b"}]}`,
			`{"dialect":"","ir":"","constructs":[{"id":"select.","type":"","title":""},{"id":"expr.a.b","type":"","title":""}]}`,
		},
		{
			"or by a child that stays", "syntax",
			`{"constructs":[{"id":"other","children":[{"id":"x"},{"id":"y","children":[{"id":"window.a"}]}]},{"id":"gone","children":[{"id":"x"}]}]}`,
			`{"dialect":"","ir":"","constructs":[{"id":"other","type":"","title":"","children":[{"id":"y","type":"","title":"","children":[{"id":"window.a","type":"","title":""}]}]}]}`,
		},
		{"no streams", "snapshot", `[]`, `{"fetched_at":"2026-11-22T03:06:07.008Z","streams":[]}`},
		{
			"the first columns of a stream", "snapshot",
			`[{"name":"z","shared":true,"schema":{"columns":[{"name":"1"},{"name":"2"},{"name":"3"},{"name":"4"},{"name":"5"},{"name":"6"},{"name":"7"},{"name":"8"},{"name":"9"}]}},` +
				`{"name":"a <b>","schema":{"columns":[{"name":"s","fields":[{"name":"inner"}]},{"data_type":"null"}]}},{"name":"n"},{"name":"m","schema":{"columns":null}}]`,
			`{"fetched_at":"2026-11-22T03:06:07.008Z","streams":[{"name":"z","cols":9,"sample_cols":["1","2","3","4","5","6","7","8"]},` +
				`{"name":"a <b>","cols":2,"sample_cols":["s",""]},{"name":"n","cols":0,"sample_cols":[]},{"name":"m","cols":0,"sample_cols":[]}]}`,
		},
		{
			"a schema is the Manager's bytes", "schema",
			`{"stream":"other","spec_version":1,"spec":{"type":"mqtt","schema":{"columns":[ {"data_type":"int64","name":"a\u00e9 <"} ],"x":1.50},"props":{}}}`,
			`{"name":"s","schema":{"columns":[ {"data_type":"int64","name":"a\u00e9 <"} ],"x":1.50}}`,
		},
	} {
		t.Run(c.digest+": "+c.name, func(t *testing.T) {
			for range 2 { // the same bytes again
				got, err := digests()[c.digest]([]byte(c.body))
				if err != nil || string(got) != c.want {
					t.Errorf("got  %s (%v)\nwant %s", got, err, c.want)
				}
			}
		})
	}
}

func TestDigestsRefuseOtherDocuments(t *testing.T) {
	for _, c := range []struct{ digest, body, want string }{
		{"functions", ``, "it is not JSON"},
		{"functions", `<html>`, "it is not JSON"},
		{"functions", `[] []`, "it is not JSON"},
		{"functions", "[{\"name\":\"\xff\"}]", "it is not UTF-8 text"},
		{"functions", `{"functions":[]}`, "it is an object, not a list of functions"},
		{"functions", `[{"name":"a"},"b"]`, "function 2 is text, not an object"},
		{"functions", `[{"Name":"a"}]`, "function 1 has no name"},
		{"syntax", `[`, "it is not JSON"},
		{"syntax", `[]`, "it is a list, not an object with constructs"},
		{"syntax", `{}`, "its constructs are nothing, not a list"},
		{"syntax", `{"constructs":null}`, "its constructs are null, not a list"},
		{"syntax", `{"constructs":[{"id":"a","children":[7]}]}`, "one of its constructs is a number, not an object"},
		{"syntax", `{"constructs":` + strings.Repeat(`[{"children":`, 200) + `[]` + strings.Repeat(`}]`, 200) + `}`, "its constructs are nested more than 100 deep"},
		{"snapshot", `{`, "it is not JSON"},
		{"snapshot", `null`, "it is null, not a list of streams"},
		{"snapshot", `[{"name":7}]`, "stream 1 has no name"},
		{"schema", `"s"`, "it is text, not a stream's description"},
		{"schema", `!`, "it is not JSON"},
		{"schema", `{"spec":{}}`, "it has no spec.schema with a list of columns"},
		{"schema", `{"spec":{"schema":{"columns":{}}}}`, "it has no spec.schema with a list of columns"},
	} {
		got, err := digests()[c.digest]([]byte(c.body))
		if err == nil || err.Error() != c.want || got != nil {
			t.Errorf("%s of %.60s: got %s, %v; want %s", c.digest, c.body, got, err, c.want)
		}
	}
}

func TestSemanticsAreCutOnCharacters(t *testing.T) {
	const most = 240
	for _, c := range []struct{ name, text, want string }{
		{"exactly as many as fit", strings.Repeat("é", most), strings.Repeat("é", most)},
		{"one more", strings.Repeat("é", most+1), strings.Repeat("é", most) + "..."},
		{"outside the basic plane", strings.Repeat("😀", most+60), strings.Repeat("😀", most) + "..."},
		{"white space around is not counted", "  " + strings.Repeat("x", most) + " \n\t ", strings.Repeat("x", most)},
		{"nor kept where it is cut", strings.Repeat("x", most-3) + "\u2003 \n yyyyy", strings.Repeat("x", most-3) + "..."},
		{"no markup is escaped", "a < b && \"c\"\n", `a < b && "c"`},
	} {
		node, err := json.Marshal(map[string]string{"id": "select", "semantics": c.text})
		if err != nil {
			t.Fatal(err)
		}
		got, err := syntaxDigest([]byte(`{"constructs":[` + string(node) + `]}`))
		if text := gjson.GetBytes(got, "constructs.0.semantics").Str; err != nil || text != c.want {
			t.Errorf("%s: got %q (%v)\nwant %q", c.name, text, err, c.want)
		}
		if strings.Contains(string(got), `\u`) {
			t.Errorf("%s: escaped: %s", c.name, got)
		}
	}
}

func TestSchemaNameIsQuoted(t *testing.T) {
	const describe = `{"spec":{"schema":{"columns":[]}}}`
	for name, want := range map[string]string{`a"b\<中`: `a"b\<中`, "": "", "\xff": "\uFFFD"} {
		got, err := streamSchema(name, []byte(describe))
		if err != nil || gjson.GetBytes(got, "name").Str != want || !json.Valid(got) {
			t.Errorf("%q: %s, %v", name, got, err)
		}
	}
}

func TestDigestOfRecordedFunctions(t *testing.T) {
	got, err := functionsDigest(recordedBody(t, "functions.json"))
	if err != nil || len(got) != 17839 {
		t.Fatalf("%d bytes, %v; want 17839", len(got), err)
	}
	kinds := map[string]int{}
	for _, f := range gjson.GetBytes(got, "functions").Array() {
		kinds[f.Get("kind").Str]++
		if f.Get("name").Str == "lag" && f.Get("arg_count").Raw != "3" {
			t.Errorf("lag: %s", f.Raw)
		}
	}
	if kinds["scalar"] != 113 || kinds["aggregate"] != 13 || kinds["stateful"] != 9 || len(kinds) != 3 {
		t.Errorf("%v, want 113 scalar, 13 aggregate and 9 stateful ones", kinds)
	}
	const accAvg = `{"name":"acc_avg","kind":"stateful","aliases":[],"arg_count":3,"allowed_contexts":["select","where"],"requirements":[{"kind":"deterministic_order"}]}`
	if !strings.Contains(string(got), accAvg) {
		t.Errorf("no %s", accAvg)
	}
}

func TestDigestOfRecordedSyntax(t *testing.T) {
	body := recordedBody(t, "capabilities_syntax.json")
	got, err := syntaxDigest(body)
	if err != nil || len(body) != 13377 || len(got) != 9049 {
		t.Fatalf("%d bytes of %d, %v; want 9049 of 13377", len(got), len(body), err)
	}
	if before, after := strings.Count(string(body), `"id":`), strings.Count(string(got), `"id":`); before != after || after != 36 {
		t.Errorf("%d of %d nodes, want 36", after, before)
	}
	full, short := semanticsByID(gjson.ParseBytes(body)), semanticsByID(gjson.ParseBytes(got))
	for id, text := range full {
		if cut := text != short[id]; cut != (id == "window") {
			t.Errorf("%s: cut: %v: %q", id, cut, short[id])
		}
	}
	if n := utf8.RuneCountInString(full["window"]); n != 276 || !strings.HasSuffix(short["window"], "...") {
		t.Errorf("window: %d characters, %q", n, short["window"])
	}
}

// semanticsByID collects the semantics below a node.
func semanticsByID(node gjson.Result) map[string]string {
	all := map[string]string{}
	if s := node.Get("semantics"); s.Exists() {
		all[node.Get("id").Str] = s.Str
	}
	for _, list := range []string{"constructs", "children"} {
		for _, n := range node.Get(list).Array() {
			maps.Copy(all, semanticsByID(n))
		}
	}
	return all
}

func TestDigestsOfRecordedStreams(t *testing.T) {
	body := recordedBody(t, "streams.json")
	got, err := streamsSnapshot(body, fetched)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range gjson.ParseBytes(body).Array() {
		summary := gjson.GetBytes(got, fmt.Sprintf("streams.%d", i))
		columns := s.Get("schema.columns").Array()
		if summary.Get("name").Str != s.Get("name").Str || int(summary.Get("cols").Int()) != len(columns) || len(summary.Get("sample_cols").Array()) != min(8, len(columns)) {
			t.Errorf("%s of %s", summary.Raw, s.Raw)
		}
	}
	describe := recordedBody(t, "describe_nested.json")
	schema, err := streamSchema("nested", describe)
	if want := gjson.GetBytes(describe, "spec.schema").Raw; err != nil || string(schema) != `{"name":"nested","schema":`+want+`}` {
		t.Errorf("%s, %v", schema, err)
	}
}

func TestSnapshotOfAWideStreamIsSmall(t *testing.T) {
	var columns []string
	for i := range 15000 {
		columns = append(columns, fmt.Sprintf(`{"name":"c%05d","data_type":"float64"}`, i))
	}
	body := `[{"name":"wide","schema":{"columns":[` + strings.Join(columns, ",") + `]}}]`
	got, err := streamsSnapshot([]byte(body), fetched)
	if err != nil || len(got) > 250 || gjson.GetBytes(got, "streams.0.cols").Int() != 15000 || gjson.GetBytes(got, "streams.0.sample_cols.7").Str != "c00007" {
		t.Errorf("%d bytes of %d, %v: %.300s", len(got), len(body), err, got)
	}
}
