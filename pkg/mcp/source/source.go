// Package source runs the commands of a source, which is another system whose workflows are offered as tools: one command lists
// the workflows, others run one, report how far its execution is, and cancel that.
package source

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
)

// ConfigName is the file in the home that has the sources, under the key sources.
const ConfigName = "serve.json"

// Source is a system with workflows. Its commands are programs with their arguments.
type Source struct {
	Name string
	// List prints a JSON array of workflows. Run executes one.
	List, Run []string
	// Status reports how far an execution is, and Cancel ends one. They may be nil.
	Status, Cancel []string
	// Refresh is how often the workflows are listed.
	Refresh time.Duration
}

const (
	defaultRefresh = time.Minute
	minRefresh     = time.Second
	maxRefresh     = 24 * time.Hour

	// maxID is the most bytes of a workflow's id. It is part of a command line.
	maxID = 1000
	// maxEcho is the most bytes of a value that a message repeats.
	maxEcho = 80
)

// Parse reads a JSON array of sources, as serve.json has it. The error is a fault, whose path begins with sources.
func Parse(raw json.RawMessage) ([]Source, error) {
	var items []json.RawMessage
	if err := json.Unmarshal(raw, &items); err != nil {
		return nil, wrong("sources", "sources must be an array of objects")
	}
	var sources []Source
	for i, item := range items {
		path := fmt.Sprintf("sources[%d]", i)
		s, err := parse(path, item)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(sources, func(other Source) bool { return other.Name == s.Name }) {
			return nil, wrong(path+".name", "two sources have the name %q", s.Name)
		}
		sources = append(sources, s)
	}
	return sources, nil
}

func parse(path string, item json.RawMessage) (Source, error) {
	s := Source{Refresh: defaultRefresh}
	fields := map[string]json.RawMessage{}
	if json.Unmarshal(item, &fields) != nil || fields == nil {
		return s, wrong(path, "%s must be an object", path)
	}
	commands := map[string]*[]string{"list": &s.List, "run": &s.Run, "status": &s.Status, "cancel": &s.Cancel}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		at := path + "." + key
		words, isCommand := commands[key]
		switch {
		case isCommand:
			if json.Unmarshal(fields[key], words) != nil || len(*words) == 0 || (*words)[0] == "" || strings.Contains(strings.Join(*words, ""), "\x00") {
				return s, wrong(at, "%s must be a program with its arguments, such as [\"crm\", \"--json\"]", at)
			}
		case key == "name":
			if json.Unmarshal(fields[key], &s.Name) != nil {
				return s, wrong(at, "%s must be a text", at)
			}
		case key == "refresh":
			var text string
			_ = json.Unmarshal(fields[key], &text)
			var err error
			if s.Refresh, err = time.ParseDuration(text); err != nil || s.Refresh < minRefresh || s.Refresh > maxRefresh {
				return s, wrong(at, "%s must be a duration from 1s to 24h, such as \"60s\"", at)
			}
		default:
			known := append(slices.Collect(maps.Keys(commands)), "name", "refresh")
			f := wrong(path+"."+fault.Truncate(key, maxEcho), "%s has an unknown key %q", path, fault.Truncate(key, maxEcho))
			if near, ok := fault.Nearest(key, known); ok {
				f.Suggest("Did you mean %q?", near)
			}
			return s, f.Suggest("The keys are name, list, run, status, cancel and refresh")
		}
	}
	if err := home.CheckName("source", s.Name); err != nil {
		f := fault.From(err)
		f.Path = path + ".name"
		return s, f
	}
	for _, key := range []string{"list", "run"} {
		if *commands[key] == nil {
			return s, wrong(path+"."+key, "the source %s has no command %q", s.Name, key)
		}
	}
	return s, nil
}

func wrong(path, format string, args ...any) *fault.Fault {
	f := fault.New(fault.Validation, ConfigName+": "+format, args...)
	f.Path = path
	return f
}

// Load returns the sources of a home. It reads only them from serve.json: a fault elsewhere in the file does not matter.
func Load(h *home.Home) ([]Source, error) {
	text, err := h.Read(ConfigName)
	if err != nil {
		return nil, err
	}
	if len(strings.TrimSpace(string(text))) == 0 {
		return nil, nil
	}
	if !gjson.ValidBytes(text) {
		return nil, fault.New(fault.Validation, "%s is not JSON", ConfigName)
	}
	raw := gjson.GetBytes(text, "sources").Raw
	if raw == "" {
		return nil, nil
	}
	return Parse(json.RawMessage(raw))
}

// Find returns the source of a home with the given name. The error is a fault, not_found with the nearest name if there is no such
// source.
func Find(h *home.Home, name string) (*Source, error) {
	sources, err := Load(h)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(sources))
	for i := range sources {
		if names[i] = sources[i].Name; names[i] == name {
			return &sources[i], nil
		}
	}
	f := fault.New(fault.NotFound, "%s has no source %q", ConfigName, fault.Truncate(name, maxEcho))
	if near, ok := fault.Nearest(name, names); ok {
		f.Suggest("Did you mean %q?", near)
	}
	if len(names) > 0 {
		f.Available = names
	}
	return nil, f
}

// Join returns the name of a source's workflow in the suite, SOURCE:ID. Split takes it apart. No saved workflow and no draft has such a name.
func Join(source, id string) string { return source + ":" + id }

// Split returns the source and the id in the name of a source's workflow. It reports false for any other name.
func Split(name string) (source, id string, ok bool) {
	source, id, ok = strings.Cut(name, ":")
	return source, id, ok && home.CheckName("source", source) == nil && CheckID(id) == nil
}

// CheckID returns a fault for an id that cannot be part of the name of a workflow in the suite.
func CheckID(id string) error {
	if id == "" || len(id) > maxID || strings.ContainsFunc(id, unicode.IsControl) || strings.Contains(id, "${") {
		return fault.New(fault.Validation, "The id %q of a workflow cannot be used", fault.Truncate(id, maxEcho)).
			Suggest("An id has 1 to %d bytes, no control characters and no ${", maxID)
	}
	return nil
}
