package suite

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// Every command whose help lists --format prints text for people with --format text, which differs from the JSON. An answer that
// is an object by nature is indented. The other commands print one form whatever the format is.
func TestTextIsForPeople(t *testing.T) {
	t.Parallel()
	documents := map[string]bool{} // commands of which a call prints a document or lines
	for _, c := range calls {
		if c.exit == 0 && c.shape != text && c.shape != nothing {
			documents[commandOf(c)] = true
		}
	}
	tried := map[string]bool{}
	for _, c := range calls {
		command := commandOf(c)
		if c.exit != 0 || command == "" || strings.Contains(c.line, "--format ") || strings.Contains(c.line, "--print ") || strings.Contains(c.line, "--inline") {
			continue
		}
		if testing.Short() && tried[command] { // each command once
			continue
		}
		tried[command] = true
		name := c.line
		if c.before != nil {
			name += " after " + strings.Join(c.before, " and ")
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := purityPlace(t, c)
			fields := strings.Fields(c.line)
			words := strings.Fields(command)
			help := p.must(fields[0], append(slices.Clone(words[1:]), "--help")...)
			if !strings.Contains(help, "--format=") {
				if c.shape == document || c.shape == lines {
					t.Error("the help does not list --format, but there is JSON")
				}
				return
			}
			if c.shape == text {
				if group := strings.Contains(help, "\nCommands:"); !documents[command] && !group {
					t.Error("the help lists --format, which changes nothing")
				}
				return
			}
			o := p.fed(c.stdin, fields[0], slices.Insert(slices.Clone(fields[1:]), len(words)-1, "--format", "text")...)
			if o.exit != 0 {
				t.Error(o)
			}
			first, _, more := strings.Cut(strings.TrimSpace(o.stdout), "\n")
			if (strings.HasPrefix(first, "{") || strings.HasPrefix(first, "[")) && (!more || json.Valid([]byte(first))) && first != "{}" && first != "[]" {
				t.Errorf("JSON for people: %s", o)
			}
		})
	}
	for command := range documents {
		if !tried[command] && command != "" {
			t.Errorf("%s was not tried", command)
		}
	}
	if len(tried) < 50 {
		t.Errorf("only %d commands were tried", len(tried))
	}
}

// commandOf returns the program and the command that a call runs, with its group, or "" for a call without a command.
func commandOf(c call) string {
	fields := strings.Fields(c.line)
	if len(fields) < 2 || strings.HasPrefix(fields[1], "-") || strings.HasPrefix(fields[0], "pflow-node-") && fields[1] != "completion" {
		return ""
	}
	n := 2
	if group := fields[1]; len(fields) > 2 && (group == "settings" || group == "draft") {
		n = 3
	}
	return strings.Join(fields[:n], " ")
}
