// Package cases reads the workflow cases of the tests. A case is a workflow with its inputs and its expected results.
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

// Case is one workflow with its expected results.
type Case struct {
	// Name is the name of the file without .json.
	Name     string          `json:"name"`
	Workflow json.RawMessage `json:"workflow"`
	Args     []string        `json:"args"`
	// Stdin is nil if nothing is piped in.
	Stdin    *string           `json:"stdin"`
	Env      map[string]string `json:"env"`
	Settings json.RawMessage   `json:"settings"`
	// Files are written to the working directory before the run, by name. Needs are the programs that the case needs.
	Files map[string]string `json:"files"`
	Needs []string          `json:"needs"`
	// Timed is set if nodes must succeed within time limits of few seconds, so that the case must not run beside others.
	Timed  bool   `json:"timed"`
	Expect Expect `json:"expect"`
}

// Expect has the expected results of a case. Outputs is a part of the run's outputs.
type Expect struct {
	Exit          []int             `json:"exit"`
	Status        string            `json:"status"`
	Outputs       json.RawMessage   `json:"outputs"`
	ErrorContains []string          `json:"error_contains"`
	Files         map[string]string `json:"files"`
}

// Read returns all cases of a folder, sorted by name.
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

// Parameters returns the names of the parameters that nodes of a type have in the case's workflow, sorted.
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

// Missing returns the first place where got does not contain want, and why, or "" if it contains all of it. An object contains
// another if it has its members; other values must be equal. Two texts of JSON are compared as JSON.
func Missing(want, got json.RawMessage) string {
	return missing(gjson.ParseBytes(want), gjson.ParseBytes(got), "outputs")
}

func missing(want, got gjson.Result, at string) (why string) {
	switch {
	case want.IsObject() && got.IsObject():
		members := got.Map()
		want.ForEach(func(k, v gjson.Result) bool {
			member, ok := members[k.Str]
			if !ok {
				why = fmt.Sprintf("%s.%s is missing", at, k.Str)
			} else {
				why = missing(v, member, at+"."+k.Str)
			}
			return why == ""
		})
		return why
	case want.IsArray() && got.IsArray() && len(want.Array()) == len(got.Array()):
		items := got.Array()
		for i, v := range want.Array() {
			if why := missing(v, items[i], fmt.Sprintf("%s[%d]", at, i)); why != "" {
				return why
			}
		}
		return ""
	case want.Type == gjson.String && got.Type == gjson.String && want.Str != got.Str && json.Valid([]byte(want.Str)) && json.Valid([]byte(got.Str)):
		if missing(gjson.Parse(want.Str), gjson.Parse(got.Str), at) == "" && missing(gjson.Parse(got.Str), gjson.Parse(want.Str), at) == "" {
			return ""
		}
	case want.Type == got.Type && !want.IsObject() && !want.IsArray() && want.Value() == got.Value():
		return ""
	}
	return fmt.Sprintf("%s: want %s, got %s", at, want.Raw, got.Raw)
}
