package offer

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/source"
)

// Config says which workflows are offered, and how calls wait. Its file is serve.json in the home.
type Config struct {
	// Include and Exclude are patterns: a name with * and ?, tag:PATTERN or category:PATTERN. An empty Include matches everything.
	Include, Exclude []string
	// Wait is how long the call of an asynchronous workflow waits for the end of its run.
	Wait time.Duration
	// Sources are other systems whose workflows are offered too.
	Sources []source.Source
}

// DefaultWait is shorter than the 60 seconds after which clients give up.
const DefaultWait = 45 * time.Second

// maxWait is the longest wait.
const maxWait = time.Hour

// ParseConfig reads serve.json. An empty text is the default. The error is a fault.
func ParseConfig(text []byte) (Config, error) {
	c := Config{Wait: DefaultWait}
	if len(bytes.TrimSpace(text)) == 0 {
		return c, nil
	}
	var file struct {
		Include     []string `json:"include"`
		Exclude     []string `json:"exclude"`
		WaitSeconds *float64 `json:"wait_seconds"`

		Sources json.RawMessage `json:"sources"`
	}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(text, &fields); err != nil {
		return c, fault.New(fault.Validation, "serve.json must be a JSON object: %v", err)
	}
	known := []string{"include", "exclude", "wait_seconds", "sources"}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains(known, key) {
			f := fault.New(fault.Validation, "serve.json has an unknown key %q", fault.Truncate(key, maxEcho))
			if near, ok := fault.Nearest(key, known); ok {
				f.Suggest("Did you mean %q?", near)
			}
			f.Path = key
			return c, f.Suggest("The keys are %s", strings.Join(known, ", "))
		}
	}
	if err := json.Unmarshal(text, &file); err != nil {
		f := fault.New(fault.Validation, "serve.json cannot be read: %v", err)
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			f = fault.New(fault.Validation, "serve.json: %s must not be %s", wrong.Field, wrong.Value)
			f.Path = wrong.Field
		}
		return c, f.Suggest(`Write {"include": ["NAME*", "tag:TAG"], "exclude": [], "wait_seconds": 45}`)
	}
	if file.WaitSeconds != nil {
		c.Wait = time.Duration(*file.WaitSeconds * float64(time.Second))
		if *file.WaitSeconds < 0 || *file.WaitSeconds > maxWait.Seconds() {
			f := fault.New(fault.Validation, "serve.json: wait_seconds must be from 0 to %v", maxWait.Seconds())
			f.Path = "wait_seconds"
			return c, f
		}
	}
	if file.Sources != nil {
		var err error
		if c.Sources, err = source.Parse(file.Sources); err != nil {
			return c, err
		}
	}
	c.Include, c.Exclude = file.Include, file.Exclude
	return c, CheckPatterns(append(slices.Clone(c.Include), c.Exclude...))
}

// CheckPatterns returns a fault for a pattern that can match nothing.
func CheckPatterns(patterns []string) error {
	for _, pattern := range patterns {
		_, text := kindOf(pattern)
		if _, err := path.Match(text, ""); err != nil || text == "" {
			return fault.New(fault.Validation, "Invalid pattern %q for workflows", fault.Truncate(pattern, maxEcho)).
				Suggest("Write a name with * and ?, such as report-*, or tag:TAG, or category:CATEGORY")
		}
	}
	return nil
}

// kindOf returns what a pattern is matched against, "tag", "category" or "", and the pattern for that.
func kindOf(pattern string) (kind, text string) {
	for _, kind := range []string{"tag", "category"} {
		if text, ok := strings.CutPrefix(pattern, kind+":"); ok {
			return kind, text
		}
	}
	return "", pattern
}

// Offers reports whether a workflow is offered.
func (c *Config) Offers(l *Listing) bool {
	return (len(c.Include) == 0 || slices.ContainsFunc(c.Include, l.matches)) && !slices.ContainsFunc(c.Exclude, l.matches)
}

// matches reports whether a valid pattern matches the whole name, also in the spelling of a tool's name, the category, or one of the tags.
func (l *Listing) matches(pattern string) bool {
	kind, text := kindOf(pattern)
	values := []string{l.Name, clean(l.Name)}
	switch kind {
	case "tag":
		values = l.tags()
	case "category":
		values = []string{l.Category}
	}
	return slices.ContainsFunc(values, func(value string) bool {
		ok, _ := path.Match(withoutSlashes(text), withoutSlashes(value))
		return ok
	})
}

// withoutSlashes returns a text in which * and ? match every character: path.Match takes a slash for the end of a part.
func withoutSlashes(text string) string { return strings.ReplaceAll(text, "/", "\x1f") }
