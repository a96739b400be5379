package registry

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// Match is a node type that a search found. The best match has the highest score.
type Match struct {
	Type  nodetype.Type
	Score float64
}

// Search decodes what Find finds: at most limit types from index from on, or all of them if limit is 0. It returns how many there are.
func (r *Registry) Search(query string, from, limit int) (matches []Match, total int, err error) {
	err = r.Find(Query{Words: query}, func(f *Found) error {
		matches, total = []Match{}, f.Len()
		for i := from; i < total && (limit == 0 || i < from+limit); i++ {
			t, err := f.Type(i)
			if err != nil {
				return err
			}
			matches = append(matches, Match{t, float64(f.hits[i].Score)})
		}
		if f.Fault != nil {
			return f.Fault
		}
		return nil
	})
	return matches, total, err
}

// findTest has tools of two servers, one of them a broken entry, and a program.
const findTest = `{"nodes":{
	"mcp-a-read-file":{"interface":{"description":"Read a file","mcp_metadata":{"server":"a","tool":"read_file"}}},
	"mcp-a-broken":{"interface":{"description":"Read a broken file","params":7,"mcp_metadata":{"server":"a","tool":"broken"}}},
	"mcp-b-read-row":{"interface":{"description":"Read a row","mcp_metadata":{"server":"b","tool":"read_row"}}}}}`

// selected returns the names of the types that a query selects.
func selected(t *testing.T, r *Registry, q Query) (names []string, f *fault.Fault) {
	t.Helper()
	err := r.Find(q, func(found *Found) error {
		names, f = []string{}, found.Fault
		for i := range found.Len() {
			names = append(names, found.Name(i))
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return names, f
}

func TestFindSelects(t *testing.T) {
	r, _ := open(t, map[string]string{fileName: findTest})
	all := slices.Sorted(slices.Values(append(nodetype.BuiltinNames(), "mcp-a-read-file", "mcp-a-broken", "mcp-b-read-row")))
	for _, c := range []struct {
		q    Query
		want []string
	}{
		{Query{}, all},
		{Query{Words: " \t"}, all},
		{Query{Server: "a"}, []string{"mcp-a-broken", "mcp-a-read-file"}},
		{Query{Words: "read file", Server: "a"}, []string{"mcp-a-read-file", "mcp-a-broken"}},
		{Query{Words: "row", Server: "a"}, []string{}},
		{Query{Server: "nothing"}, []string{}},
	} {
		got, f := selected(t, r, c.q)
		if d := cmp.Diff(c.want, got); d != "" || f != nil {
			t.Errorf("%+v: %s %v", c.q, d, f)
		}
	}
	if got, _ := selected(t, r, Query{Words: "read-file"}); len(got) < 2 || got[0] != "read-file" || got[1] != "mcp-a-read-file" {
		t.Errorf("the best are not first: %q", got)
	}
}

// TestFindDecodesOnlyWhatIsAskedFor: a broken entry is the error of that type alone.
func TestFindDecodesOnlyWhatIsAskedFor(t *testing.T) {
	r, _ := open(t, map[string]string{fileName: findTest})
	err := r.Find(Query{Server: "a"}, func(f *Found) error {
		if whole, err := f.Type(1); err != nil || whole.Name != "mcp-a-read-file" {
			t.Errorf("%+v, %v", whole, err)
		}
		_, err := f.Type(0)
		return err
	})
	if f := fault.From(err); err == nil || f.Type != fault.Validation || f.File != fileName || !strings.Contains(f.Message, "mcp-a-broken") {
		t.Errorf("%v", err)
	}
}

// TestFindWithoutTheRegistry: if files of the home cannot be used, the built-in types are found, with the fault.
func TestFindWithoutTheRegistry(t *testing.T) {
	for file, text := range map[string]string{fileName: `{"nodes":{`, "settings.json": `{"env":7}`} {
		r, _ := open(t, map[string]string{file: text})
		got, f := selected(t, r, Query{})
		if f == nil || f.File != file || !slices.Equal(got, nodetype.BuiltinNames()) {
			t.Errorf("%s: %v, %q", file, f, got)
		}
		if got, f := selected(t, r, Query{Words: "shell"}); f == nil || len(got) == 0 || got[0] != "shell" {
			t.Errorf("%s: %v, %q", file, f, got)
		}
	}
}

// TestFindKeepsWhatIsDenied: types that the settings deny are not found.
func TestFindKeepsWhatIsDenied(t *testing.T) {
	r, _ := open(t, map[string]string{fileName: findTest, "settings.json": `{"registry":{"nodes":{"deny":["mcp-a-*","shell"]}}}`})
	got, _ := selected(t, r, Query{})
	if slices.Contains(got, "shell") || slices.Contains(got, "mcp-a-read-file") || !slices.Contains(got, "mcp-b-read-row") {
		t.Errorf("%q", got)
	}
}

// TestFindAgainAfterAChange: use is called again with the new state if the file changes under it.
func TestFindAgainAfterAChange(t *testing.T) {
	_, h := open(t, map[string]string{fileName: findTest})
	if _, f := selected(t, indexed(h, true), Query{Words: "read"}); f != nil { // stores the index
		t.Fatal(f)
	}
	r := indexed(h, true)
	calls, last := 0, 0
	err := r.Find(Query{Server: "b"}, func(f *Found) error {
		if calls++; calls == 1 {
			if err := os.WriteFile(h.Path(fileName), []byte(strings.ReplaceAll(findTest, `"server":"b"`, `"server":"c"`)+"\n"), 0o600); err != nil {
				return err
			}
		}
		last = f.Len()
		return nil
	})
	if err != nil || calls != 2 || last != 0 {
		t.Errorf("%d calls, %d types at last, %v", calls, last, err)
	}
}
