package main

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pflow-suite/pflow/pkg/catalog/page"
	"github.com/pflow-suite/pflow/pkg/fault"
)

// TestPagesOfAList: whatever the workflows say, each page fits and has an entry, and the pages together have each workflow once.
func TestPagesOfAList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.StringN(0, 100, -1), rapid.StringN(0, 9000, -1))
		var items []listed
		var want, got []string
		for i := range rapid.IntRange(0, 50).Draw(t, "workflows") {
			w := listed{Name: fmt.Sprintf("workflow-%02d", i), Description: text.Draw(t, "description"), Saved: i%3 > 0, Version: text.Draw(t, "version")}
			if i%5 == 4 {
				w.Error = fault.New(fault.Validation, "%s", text.Draw(t, "message")).Suggest("%s", text.Draw(t, "suggestion")).Detail("text", text.Draw(t, "detail"))
			}
			items, want = append(items, w), append(want, w.Name)
		}
		limits := page.Limits{Bytes: rapid.IntRange(page.Least, 9000).Draw(t, "bytes"), Entries: rapid.IntRange(0, 9).Draw(t, "limit")}
		c := listCommand{Pattern: text.Draw(t, "pattern")}
		for {
			answer, err := c.page(items, limits, fault.Tools)
			if err != nil {
				t.Fatal(err)
			}
			if size := page.Size(answer); size > limits.Bytes {
				t.Fatalf("%d bytes, not %d", size, limits.Bytes)
			}
			if len(answer.Workflows) == 0 && len(items) > 0 || answer.Total != len(items) || limits.Entries > 0 && len(answer.Workflows) > limits.Entries {
				t.Fatalf("%d of %d workflows, the limit is %d", len(answer.Workflows), answer.Total, limits.Entries)
			}
			for _, w := range answer.Workflows {
				if got = append(got, w.Name); !w.Truncated && w.Description != items[len(got)-1].Description {
					t.Fatalf("%s is shortened, and does not say so", w.Name)
				}
			}
			if c.Cursor = answer.NextCursor; c.Cursor == "" {
				break
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatal(d)
		}
	})
}
