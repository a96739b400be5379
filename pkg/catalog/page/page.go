// Package page divides long answers into pages: documents of a limited size, each with the place where the next one begins. Sizes
// are bytes of JSON as the programs print it.
package page

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// Least is the smallest limit for the bytes of a page, as --max-bytes has it. A document without entries fits into it.
const Least = 1024

// Unlimited is the room of a page without a limit in bytes.
const Unlimited = 1 << 40

// Limits bound one page. The zero value bounds nothing.
type Limits struct {
	// Bytes is the most bytes of the document, or 0.
	Bytes int
	// Entries is the most entries of each list, or 0.
	Entries int
}

// Check returns a usage_error if the limits cannot be kept.
func (l Limits) Check() error {
	if l.Entries < 0 {
		return fault.New(fault.Usage, "--limit must be at least 0, got %d", l.Entries).Suggest("Use the number of results to print, or 0 for all")
	}
	return nil
}

// Room returns the bytes that are left for entries in a document that has the given size without them.
func (l Limits) Room(without int) int {
	if l.Bytes == 0 {
		return Unlimited
	}
	return l.Bytes - without
}

// Size returns the bytes that a value takes as JSON. A value that is no JSON takes none.
func Size(v any) int {
	raw, err := rawjson.Marshal(v)
	if err != nil {
		return 0
	}
	return len(raw)
}

// Fill returns the entries from index from to index to that fit into room, with a comma each, and the bytes they take. It returns at
// most limit entries unless limit is 0. With must, it returns the first entry even if that does not fit.
func Fill[T any](from, to, limit, room int, must bool, entry func(i int) (T, error)) (list []T, used int, err error) {
	if limit > 0 {
		to = min(to, from+limit)
	}
	for i := from; i < to; i++ {
		e, err := entry(i)
		if err != nil {
			return nil, 0, err
		}
		size := Size(e) + 1
		if used+size > room && (!must || len(list) > 0) {
			break
		}
		list, used = append(list, e), used+size
	}
	return list, used, nil
}

// Shares divides room among parts of the given sizes: what is smaller than an equal share gets its size, and the others divide the
// rest equally.
func Shares(room int, sizes ...int) []int {
	order := make([]int, len(sizes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return sizes[a] - sizes[b] })
	shares := make([]int, len(sizes))
	for done, i := range order {
		shares[i] = min(sizes[i], max(room, 0)/(len(order)-done))
		room -= shares[i]
	}
	return shares
}

// Cut returns text if it takes at most the given number of bytes as a JSON string without its quotes, and else its beginning
// followed by "…". It returns "" if not even that fits.
func Cut(text string, most int) string {
	if len(text) <= most && Size(text)-2 <= most {
		return text
	}
	used := len("…")
	for i, r := range text {
		if used += width(r); used > most {
			if i == 0 {
				return ""
			}
			return strings.ToValidUTF8(text[:i], "�") + "…"
		}
	}
	return text
}

// width returns the bytes that a character takes in a JSON string, or more.
func width(r rune) int {
	switch {
	case r < ' ' || r == utf8.RuneError || r == '\u2028' || r == '\u2029':
		return len(`\u0000`)
	case r == '"' || r == '\\':
		return len(`\"`)
	}
	return utf8.RuneLen(r)
}

// Distribute returns how many entries of each list fit into room together. Each list gets its share of the room, and what the others
// leave goes to the first lists. Entries are given by their sizes. A list has at most limit entries, unless limit is 0.
func Distribute(room, limit int, lists ...[]int) []int {
	sums := make([]int, len(lists))
	for i, sizes := range lists {
		if limit > 0 {
			sizes = sizes[:min(limit, len(sizes))]
			lists[i] = sizes
		}
		for _, size := range sizes {
			sums[i] += size
		}
	}
	counts := make([]int, len(lists))
	take := func(i, most int) (used int) {
		for counts[i] < len(lists[i]) && used+lists[i][counts[i]] <= most {
			used += lists[i][counts[i]]
			counts[i]++
		}
		return used
	}
	for i, share := range Shares(room, sums...) {
		room -= take(i, share)
	}
	for i := range lists {
		room -= take(i, room)
	}
	return counts
}
