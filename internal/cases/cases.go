// Package cases is the workflow cases of the tests: each a workflow, what it is given, and what must come of it.
package cases

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// Case is one workflow with what must come of it.
type Case struct {
	// Name is the file's, without its ending.
	Name     string          `json:"name"`
	Workflow json.RawMessage `json:"workflow"`
	Args     []string        `json:"args"`
	// Stdin is nil when nothing is piped in.
	Stdin    *string           `json:"stdin"`
	Env      map[string]string `json:"env"`
	Settings json.RawMessage   `json:"settings"`
	// Files lie in the working directory beforehand; Needs are programs without which the case cannot run.
	Files  map[string]string `json:"files"`
	Needs  []string          `json:"needs"`
	Expect Expect            `json:"expect"`
}

// Expect is what must come of a case. Outputs is a part of the run's outputs: what it names must be there.
type Expect struct {
	Exit          []int             `json:"exit"`
	Status        string            `json:"status"`
	Outputs       json.RawMessage   `json:"outputs"`
	ErrorContains []string          `json:"error_contains"`
	Files         map[string]string `json:"files"`
}

// Read reads all cases of a folder, sorted by name.
func Read(dir string) ([]Case, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	all := make([]Case, len(paths))
	for i, path := range paths {
		source, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		dec := json.NewDecoder(bytes.NewReader(source))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&all[i]); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if name := strings.TrimSuffix(filepath.Base(path), ".json"); all[i].Name != name {
			return nil, fmt.Errorf("%s: its name is %q", path, all[i].Name)
		}
	}
	return all, nil
}

// Parameters are the parameters that nodes of a type are given in a case's workflow, sorted.
func (c *Case) Parameters(nodeType string) []string {
	names := map[string]bool{}
	gjson.GetBytes(c.Workflow, "nodes").ForEach(func(_, n gjson.Result) bool {
		if n.Get("type").Str == nodeType {
			n.Get("params").ForEach(func(k, _ gjson.Result) bool {
				names[k.Str] = true
				return true
			})
		}
		return true
	})
	return slices.Sorted(maps.Keys(names))
}

// Lacks says what of want is not in got, and where: every member that an object of want names must be in got's, all else
// must be equal. Two texts that hold JSON are compared as that. It is empty when nothing is lacking.
func Lacks(want, got json.RawMessage) string {
	return lacks(gjson.ParseBytes(want), gjson.ParseBytes(got), "outputs")
}

func lacks(want, got gjson.Result, at string) (why string) {
	switch {
	case want.IsObject() && got.IsObject():
		members := got.Map()
		want.ForEach(func(k, v gjson.Result) bool {
			member, ok := members[k.Str]
			if !ok {
				why = fmt.Sprintf("%s.%s is missing", at, k.Str)
			} else {
				why = lacks(v, member, at+"."+k.Str)
			}
			return why == ""
		})
		return why
	case want.IsArray() && got.IsArray() && len(want.Array()) == len(got.Array()):
		items := got.Array()
		for i, v := range want.Array() {
			if why := lacks(v, items[i], fmt.Sprintf("%s[%d]", at, i)); why != "" {
				return why
			}
		}
		return ""
	case want.Type == gjson.String && got.Type == gjson.String && want.Str != got.Str && json.Valid([]byte(want.Str)) && json.Valid([]byte(got.Str)):
		if lacks(gjson.Parse(want.Str), gjson.Parse(got.Str), at) == "" && lacks(gjson.Parse(got.Str), gjson.Parse(want.Str), at) == "" {
			return ""
		}
	case want.Type == got.Type && !want.IsObject() && !want.IsArray() && want.Value() == got.Value():
		return ""
	}
	return fmt.Sprintf("%s: want %s, got %s", at, want.Raw, got.Raw)
}
