package jsonschema

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// publicGroup is a schema of the public test suite, and the values that it allows or not.
type publicGroup struct {
	Description string
	Schema      json.RawMessage
	Tests       []struct {
		Data  json.RawMessage
		Valid bool
	}
}

// TestPublicSuite runs the public test suite of JSON Schema (github.com/json-schema-org/JSON-Schema-Test-Suite) in the dialects that the
// package reads, with what is optional about numbers, patterns and references. CASE_SCHEMAS is its folder tests. What fails stands in
// testdata/public-suite.txt, with the reasons.
func TestPublicSuite(t *testing.T) {
	t.Parallel()
	suite := os.Getenv("CASE_SCHEMAS")
	if suite == "" {
		t.Skip("CASE_SCHEMAS is not set")
	}
	passed := 0
	var failing []string
	for _, pattern := range []string{"draft2020-12/*.json", "draft2020-12/optional/*.json", "draft7/*.json", "draft7/optional/*.json"} {
		files, err := filepath.Glob(filepath.Join(suite, pattern))
		if err != nil || len(files) < 5 {
			t.Fatalf("%d files are %s in %s: %v", len(files), pattern, suite, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			var groups []publicGroup
			if err != nil || json.Unmarshal(text, &groups) != nil {
				t.Fatalf("%s cannot be read: %v", file, err)
			}
			name, _ := filepath.Rel(suite, file)
			for _, g := range groups {
				fitting := g.passing(t, strings.HasPrefix(pattern, "draft7"))
				passed += fitting
				if fitting < len(g.Tests) {
					failing = append(failing, name+": "+g.Description)
				}
			}
		}
	}
	known, err := os.ReadFile(filepath.Join("testdata", "public-suite.txt"))
	if err != nil {
		t.Fatalf("the known failures cannot be read: %v", err)
	}
	want := slices.DeleteFunc(strings.Split(string(known), "\n"), func(line string) bool { return line == "" || line[0] == '#' })
	slices.Sort(want)
	slices.Sort(failing)
	if diff := cmp.Diff(want, slices.Compact(failing)); diff != "" {
		t.Errorf("the groups that fail, and those of testdata/public-suite.txt (-):\n%s", diff)
	}
	t.Logf("%d cases pass", passed)
}

// passing returns how many tests of a group come out as they should. The tests of draft-07 do not name their dialect.
func (g publicGroup) passing(t *testing.T, draft7 bool) (passing int) {
	schema := g.Schema
	var fields map[string]json.RawMessage
	if draft7 && json.Unmarshal(schema, &fields) == nil && fields["$schema"] == nil {
		fields["$schema"] = json.RawMessage(`"http://json-schema.org/draft-07/schema#"`)
		var err error
		if schema, err = rawjson.Marshal(fields); err != nil {
			t.Fatalf("%s: %v", g.Description, err)
		}
	}
	s, f := Compile(schema)
	if f != nil {
		return 0
	}
	for _, test := range g.Tests {
		if s.Fits(test.Data) == test.Valid {
			passing++
		}
	}
	return passing
}
