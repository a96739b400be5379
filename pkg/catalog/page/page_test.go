package page

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/pflow-suite/pflow/pkg/fault"
)

type document struct {
	Entries []string `json:"entries"`
	Next    string   `json:"next_cursor,omitempty"`
}

// TestPagesTogetherAreTheList: every page fits and has an entry, and the pages together are the list, whatever is in it.
func TestPagesTogetherAreTheList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfNDistinct(rapid.StringN(0, -1, 400), 0, 60, rapid.ID).Draw(t, "list")
		limits := Limits{Bytes: rapid.IntRange(Least, 3000).Draw(t, "bytes"), Entries: rapid.IntRange(0, 9).Draw(t, "entries")}
		key := func(i int) string { return list[i] }
		var got []string
		for cursor, first := "", true; cursor != "" || first; first = false {
			places, err := Places(cursor, "query", 1)
			if err != nil {
				t.Fatal(err)
			}
			at := places[0].In(len(list), key)
			room := limits.Room(Size(document{Entries: []string{}, Next: fmt.Sprintf("%*d", MaxCursor, 0)}))
			entries, _, err := Fill(at, len(list), limits.Entries, room, true, func(i int) (string, error) { return list[i], nil })
			if err != nil {
				t.Fatal(err)
			}
			d := document{Entries: entries}
			if at += len(entries); at < len(list) {
				d.Next = Cursor("query", After(at, key))
			}
			if len(entries) == 0 && d.Next != "" || len(got) > len(list) {
				t.Fatalf("a page without progress: %+v", d)
			}
			if size := Size(d); size > limits.Bytes {
				if !(len(entries) == 1 && Size(entries[0]) > room-1) { // the only entry that a caller has to shorten
					t.Fatalf("%d bytes, not %d", size, limits.Bytes)
				}
			}
			if limits.Entries > 0 && len(entries) > limits.Entries {
				t.Fatalf("%d entries", len(entries))
			}
			got, cursor = append(got, entries...), d.Next
		}
		if !slices.Equal(got, list) {
			t.Fatalf("%q, not %q", got, list)
		}
	})
}

// TestACursorSurvivesChanges: the next page begins after the entry that ended the one before, wherever that is now.
func TestACursorSurvivesChanges(t *testing.T) {
	in := func(list ...string) (int, func(int) string) { return len(list), func(i int) string { return list[i] } }
	_, key := in("a", "b", "c", "d")
	for _, c := range []struct {
		name string
		at   int
		now  []string
		want int
	}{
		{"unchanged", 2, []string{"a", "b", "c", "d"}, 2},
		{"the beginning", 0, []string{"z", "a"}, 0},
		{"more before", 2, []string{"0", "a", "aa", "b", "c"}, 4},
		{"less before", 3, []string{"c", "d"}, 1},
		{"its entry is gone", 2, []string{"a", "c", "d"}, 2},
		{"nearly all gone", 3, []string{"a"}, 1},
	} {
		text := Cursor(7, After(c.at, key), Place{})
		places, err := Places(text, 7, 2)
		if err != nil {
			t.Fatal(err)
		}
		if got := places[0].In(in(c.now...)); got != c.want || len(text) > MaxCursor || text[0] == '-' {
			t.Errorf("%s: %d, not %d (%s)", c.name, got, c.want, text)
		}
	}
}

func TestForeignCursorsAreRefused(t *testing.T) {
	whole := Cursor("a", Place{3, 4}, Place{5, 6})
	for name, c := range map[string]struct {
		cursor string
		query  string
		lists  int
	}{
		"of another query": {whole, "b", 2}, "no base64": {"???", "a", 2}, "short": {"AQ", "a", 2}, "cut": {whole[:len(whole)-4], "a", 2},
		"of fewer lists": {whole, "a", 1}, "words": {"next page", "a", 2}, "another version": {"Z" + whole[1:], "a", 2},
	} {
		if _, err := Places(c.cursor, c.query, c.lists); err == nil || fault.From(err).Type != fault.Usage {
			t.Errorf("%s: %v", name, err)
		}
	}
	if places, err := Places(whole, "a", 2); err != nil || places[1] != (Place{5, 6}) {
		t.Errorf("%v %v", places, err)
	}
}

func TestShares(t *testing.T) {
	for _, c := range []struct {
		room  int
		sizes []int
		want  []int
	}{
		{100, []int{10, 20, 30}, []int{10, 20, 30}},
		{60, []int{10, 100, 100}, []int{10, 25, 25}},
		{60, []int{100, 10, 24}, []int{26, 10, 24}},
		{0, []int{5, 5}, []int{0, 0}},
		{-9, []int{5}, []int{0}},
		{9, nil, []int{}},
	} {
		if got := Shares(c.room, c.sizes...); !slices.Equal(got, c.want) {
			t.Errorf("Shares(%d, %v) = %v, not %v", c.room, c.sizes, got, c.want)
		}
	}
}

func TestCutFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		most := rapid.IntRange(0, 80).Draw(t, "most")
		got := Cut(text, most)
		if size := Size(got) - 2; size > most {
			t.Fatalf("%q takes %d bytes, not %d", got, size, most)
		}
		if Size(text)-2 <= most && got != text {
			t.Fatalf("%q is cut to %q", text, got)
		}
		raw, err := json.Marshal(got)
		if err != nil || !utf8.Valid(raw) {
			t.Fatal(err)
		}
	})
	if got := Cut("a long description", 10); got != "a long …" {
		t.Errorf("%q", got)
	}
}

func TestLimitsAreChecked(t *testing.T) {
	for limits, good := range map[Limits]bool{{}: true, {Bytes: Least, Entries: 1}: true, {Entries: -1}: false} {
		if err := limits.Check(); (err == nil) != good || err != nil && fault.From(err).Type != fault.Usage {
			t.Errorf("%+v: %v", limits, err)
		}
	}
}

func TestDistribute(t *testing.T) {
	list := func(n, size int) []int { return slices.Repeat([]int{size}, n) }
	for _, c := range []struct {
		room, limit int
		lists       [][]int
		want        []int
	}{
		{100, 0, [][]int{list(3, 10), list(2, 20)}, []int{3, 2}},
		{100, 0, [][]int{list(50, 10), list(50, 10)}, []int{5, 5}},
		{100, 0, [][]int{list(2, 10), list(50, 10)}, []int{2, 8}},
		{100, 0, [][]int{list(50, 30), list(50, 10)}, []int{1, 7}},
		{100, 0, [][]int{list(50, 20), list(50, 30)}, []int{3, 1}}, // 2 and 1 by their shares
		{1000, 3, [][]int{list(50, 20), list(2, 30)}, []int{3, 2}},
		{-5, 0, [][]int{list(1, 1), nil}, []int{0, 0}},
	} {
		if got := Distribute(c.room, c.limit, c.lists...); !slices.Equal(got, c.want) {
			t.Errorf("Distribute(%d, %d, %v) = %v, not %v", c.room, c.limit, c.lists, got, c.want)
		}
	}
}
