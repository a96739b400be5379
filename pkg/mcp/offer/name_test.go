package offer

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestNames(t *testing.T) {
	for _, c := range []struct {
		listings []Listing
		want     []string // a pattern each
	}{
		{[]Listing{{ID: "report", Name: "report"}}, []string{`report`}},
		{[]Listing{{ID: "run-status", Name: "run-status"}, {ID: "execute", Name: "execute"}}, []string{`run-status`, `execute-[0-9a-v]{8}`}},
		{[]Listing{{ID: "1", Name: "Create Report!"}, {ID: "2", Name: "create-report"}}, []string{`create-report--[0-9a-v]{8}|create-report-[0-9a-v]{8}`, `create-report`}},
		{[]Listing{{ID: "a-1", Name: "twin"}, {ID: "b-2", Name: "twin"}}, []string{`twin-a-1-[0-9a-v]{8}`, `twin-b-2-[0-9a-v]{8}`}},
		{[]Listing{{ID: "1", Name: "日本語"}}, []string{`[0-9a-v]{8}`}},
		{[]Listing{{ID: "1", Name: strings.Repeat("long-", 9)}}, []string{`long-long-long-long-long-long-l-[0-9a-v]{8}`}},
		{[]Listing{{ID: "1", Name: "under_score"}}, []string{`under_score`}},
	} {
		names := Names(c.listings, []string{"execute", "run_status"})
		for i, name := range names {
			if !regexp.MustCompile(`^(?:` + c.want[i] + `)$`).MatchString(name) {
				t.Errorf("%q is called %q, not %s", c.listings[i].Name, name, c.want[i])
			}
		}
	}
}

// TestNamesAreStable: whatever the workflows are called, each name can be called and is that of one tool, in every order; and the name of
// a workflow that has its own name to itself does not depend on the others.
func TestNamesAreStable(t *testing.T) {
	form := regexp.MustCompile(`^[a-z0-9_-]{1,40}$`)
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-zA-Z ._-]{1,60}`), rapid.SampledFrom([]string{"execute", "twin", "Twin", "報告"}))
		var listings []Listing
		same := map[string]int{}
		for i := range rapid.IntRange(1, 40).Draw(t, "workflows") {
			l := Listing{ID: fmt.Sprint("id ", i), Name: text.Draw(t, "name")}
			same[l.Name]++
			listings = append(listings, l)
		}
		names := Names(listings, []string{"execute"})
		seen := map[string]bool{"execute": true}
		for i, name := range names {
			if !form.MatchString(name) || seen[name] {
				t.Fatalf("%q is called %q", listings[i].Name, name)
			}
			seen[name] = true
		}
		order := rand.New(rand.NewPCG(1, uint64(len(listings)))).Perm(len(listings))
		shuffled := make([]Listing, len(listings))
		for i, j := range order {
			shuffled[i] = listings[j]
		}
		for i, name := range Names(shuffled, []string{"execute"}) {
			if name != names[order[i]] {
				t.Fatalf("%q is called %q and, in another order, %q", shuffled[i].Name, names[order[i]], name)
			}
		}
		for i, l := range listings {
			if alone := Names([]Listing{l}, []string{"execute"})[0]; same[l.Name] == 1 && alone != names[i] {
				t.Fatalf("%q is called %q and, alone, %q", l.Name, names[i], alone)
			}
		}
	})
}

// A name that somebody has chosen to be that of another workflow's tool lengthens the digest of the other.
func TestAStolenNameLengthensTheDigest(t *testing.T) {
	victim := Listing{ID: "1", Name: "日本語"}
	short := Names([]Listing{victim}, nil)[0]
	names := Names([]Listing{victim, {ID: "2", Name: short}}, nil)
	if names[1] != short || len(names[0]) != len(short)+8 || !strings.HasPrefix(names[0], short) {
		t.Error(names)
	}
	if got := Names([]Listing{{ID: "2", Name: short}, victim}, nil); !slices.Equal(got, []string{names[1], names[0]}) {
		t.Error(got)
	}
}
