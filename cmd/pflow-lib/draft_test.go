package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// TestVerdictsHoldTheirLimit: faults are left out from the end, warnings first, and counted.
func TestVerdictsHoldTheirLimit(t *testing.T) {
	long := func(n int) *fault.Fault {
		return fault.New(fault.Validation, "%s", strings.Repeat("é<", n/3)).Suggest("%s", strings.Repeat("s", n))
	}
	for _, size := range []int{0, 10, 300, 2000, 100_000} {
		for _, count := range []int{0, 1, 5, 61} {
			for _, most := range []int{0, 1000, 1500, 8192} {
				t.Run(fmt.Sprint(size, count, most), func(t *testing.T) {
					v := draftVerdict{Name: strings.Repeat("n", 50), Form: "markdown", Path: "workflows/" + strings.Repeat("n", 50) + ".pflow.md", Warnings: []*fault.Fault{}}
					for range count {
						v.Errors, v.Warnings = append(v.Errors, long(size)), append(v.Warnings, long(size))
					}
					v.limit(most)
					raw, err := rawjson.Marshal(v)
					if err != nil || most > 0 && len(raw)+1 > most {
						t.Errorf("%d bytes, %v", len(raw), err)
					}
					if most == 0 && (len(v.Errors) != count || len(v.Warnings) != count) || len(v.Errors) == 0 && count > 0 {
						t.Errorf("%d errors, %d warnings", len(v.Errors), len(v.Warnings))
					}
					if most > 0 && (len(v.Errors) > 10 || len(v.Warnings) > 10) {
						t.Errorf("%d errors, %d warnings", len(v.Errors), len(v.Warnings))
					}
					for _, c := range []struct{ shown, total int }{{len(v.Errors), v.ErrorsTotal}, {len(v.Warnings), v.WarningsTotal}} {
						if c.shown < count && c.total != count || c.shown == count && c.total != 0 {
							t.Errorf("%d of %d are shown, and the total is %d", c.shown, count, c.total)
						}
					}
				})
			}
		}
	}
}

// TestPagesOfADraft: the pages hold their limit, and together they are the text.
func TestPagesOfADraft(t *testing.T) {
	for name, text := range map[string]string{
		"short": "{}", "empty": "", "plain": strings.Repeat("0123456789\n", 3000), "wide": strings.Repeat("é", 9000), "astral": strings.Repeat("𝄞\u2028", 4000),
		"quotes": strings.Repeat(`"\`, 9000), "controls": strings.Repeat("\x01<", 5000), "not UTF-8": strings.Repeat("\xff", 3000),
	} {
		for _, most := range []int{1000, 8192} {
			t.Run(fmt.Sprint(name, most), func(t *testing.T) {
				var got strings.Builder
				at, pages := 0, 0
				for {
					d := draftText{Name: strings.Repeat("n", 50), Path: "workflows/" + strings.Repeat("n", 50) + ".pflow.md", Form: "markdown", Bytes: len(text)}
					d.fill([]byte(text), at, most)
					if raw, err := rawjson.Marshal(d); err != nil || len(raw)+1 > most {
						t.Fatalf("%d bytes, %v", len(raw), err)
					}
					got.WriteString(d.Content)
					pages++
					if d.NextCursor == "" {
						break
					}
					next, err := offsetOf(d.NextCursor, []byte(text))
					if err != nil || next <= at {
						t.Fatalf("after %d comes %d: %v", at, next, err)
					}
					if _, err := offsetOf(d.NextCursor, []byte(text+" ")); err == nil {
						t.Error("the cursor is one of a draft that has changed")
					}
					at = next
				}
				if got.String() != text || len(text) > 2*most && pages < 2 {
					t.Errorf("%d pages with %d bytes, not %d", pages, got.Len(), len(text))
				}
			})
		}
	}
	for _, cursor := range []string{"-", "-1-", "x", "0-000000000000", cursorAt(1, []byte("other"))} {
		if _, err := offsetOf(cursor, []byte("text")); fault.From(err) == nil || fault.From(err).Type != fault.Usage {
			t.Errorf("%q: %v", cursor, err)
		}
	}
}
