package event_test

import (
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/event"
)

func TestSegments(t *testing.T) {
	for path, want := range map[string][]event.Segment{
		"a":           {{ID: "a", Item: -1}},
		"a/b":         {{ID: "a", Item: -1}, {ID: "b", Item: -1}},
		"a[0]/b#2/c":  {{ID: "a"}, {ID: "b", Item: -1, Iteration: 2}, {ID: "c", Item: -1}},
		"build[12]/x": {{ID: "build", Item: 12}, {ID: "x", Item: -1}},
	} {
		got, ok := event.Segments(path)
		var parts []string
		for i, s := range got {
			if i >= len(want) || s != want[i] {
				t.Errorf("%s: %+v", path, got)
			}
			parts = append(parts, s.String())
		}
		if !ok || len(got) != len(want) || strings.Join(parts, "/") != path {
			t.Errorf("%s: %+v %q", path, got, parts)
		}
	}
	for _, path := range []string{"", "/", "a/", "/a", "a//b", "a[", "a[]", "a[x]", "a[-1]", "a[1", "a[1]x", "a#", "a#0", "a#x", "[1]", "#2"} {
		if got, ok := event.Segments(path); ok {
			t.Errorf("%q: %+v", path, got)
		}
	}
}
