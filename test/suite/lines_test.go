package suite

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// What the error of a batch over text suggests can be pasted: the function in place, and the node before it.
func TestBatchOverTextSuggestsWhatWorks(t *testing.T) {
	t.Parallel()
	const workflow = `{"nodes":[{"id":"list","type":"shell","params":{"command":"printf 'a b\\nc\\n'"}},
		{"id":"each","type":"echo","params":{"message":"<${item}>"},"batch":{"items":"${list.stdout}"}}]}`
	p := newPlace(t)
	p.write("w.json", workflow)
	o := p.run("pflow-exec", "run", "w.json", "--format", "json")
	suggestions := gjson.Get(o.stdout, "error.suggestions").Array()
	if o.exit != 1 || len(suggestions) < 2 {
		t.Fatalf("%s", o)
	}
	quoted := func(s string) string { return s[strings.LastIndex(s, `"items": `)+len(`"items": `):] }
	inPlace, node := suggestions[0].Str, suggestions[1].Str
	_, object, _ := strings.Cut(node, "{")
	var added json.RawMessage // the first JSON value
	if err := json.NewDecoder(strings.NewReader("{" + object)).Decode(&added); err != nil {
		t.Fatal(err)
	}
	changed, err := sjson.SetRaw(workflow, "nodes.1.batch.items", quoted(inPlace))
	if err != nil {
		t.Fatal(err)
	}
	with, err := sjson.SetRaw(workflow, "nodes.1.batch.items", quoted(node))
	if err == nil {
		with, err = sjson.SetRaw(with, "nodes.-1", string(added))
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, fixed := range map[string]string{"in place": changed, "a node": with} {
		p.write("fixed.json", fixed)
		o := p.run("pflow-exec", "run", "fixed.json", "--format", "json", "--max-output-chars", "0")
		if got := gjson.Get(o.stdout, "outputs.each.results.#.echo").Raw; o.exit != 0 || got != `["<a b>","<c>"]` {
			t.Errorf("%s: %s\n%s", name, fixed, o)
		}
	}
}
