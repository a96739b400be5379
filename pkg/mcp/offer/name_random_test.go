package offer

import (
	"fmt"
	"regexp"
	"slices"
	"testing"

	"github.com/pflow-suite/pflow/internal/workflownames"
)

// named returns listings with the names, of the library and of two sources.
func named(names []string) []Listing {
	listings := make([]Listing, len(names))
	for i, name := range names {
		listings[i] = Listing{Source: []string{"", "crm", "erp"}[i%3], ID: fmt.Sprint("w", i), Name: name}
	}
	return listings
}

// checkNames returns the names of the listings' tools, each of which can be called and differs from the others.
func checkNames(t *testing.T, listings []Listing, taken []string) []string {
	t.Helper()
	form := regexp.MustCompile(`^[a-z0-9_-]{1,40}$`)
	names := Names(listings, taken)
	seen := map[string]bool{}
	for i, name := range names {
		if !form.MatchString(name) || seen[name] || slices.Contains(taken, name) {
			t.Fatalf("%q of %q is called %q", listings[i].Workflow(), listings[i].Name, name)
		}
		seen[name] = true
	}
	return names
}

// The names of 10,000 workflows can be called, and do not change when others are renamed, added or removed.
func TestRandomNames(t *testing.T) {
	taken := []string{"execute", "run_status", "refresh_workflows", "list_runs"}
	all := named(workflownames.Make(1, 10_000))
	names := checkNames(t, all, taken)
	if again := checkNames(t, all, taken); !slices.Equal(names, again) {
		t.Error("the names differ each time")
	}
	few := all[:100]
	names = checkNames(t, few, taken)
	others := workflownames.Make(2, 500)
	for edit := range 500 {
		at := edit % len(few)
		before, after := few[at].Name, others[edit]
		few[at].Name = after
		renamed := checkNames(t, few, taken)
		for i, l := range few {
			// The only other names that change are those of workflows with the old or the new name of the renamed one.
			if i != at && l.Name != before && l.Name != after && renamed[i] != names[i] {
				t.Fatalf("%q is called %q, and %q after %q was renamed to %q", l.Name, names[i], renamed[i], before, after)
			}
		}
		if edit%50 == 0 {
			if left := checkNames(t, slices.Delete(slices.Clone(few), at, at+1), taken); len(left) != len(few)-1 {
				t.Error(len(left))
			}
		}
		names = renamed
	}
}
