package flow

import "testing"

// TestPlaces holds that a place has what it was made of, and that other texts are refused.
func TestPlaces(t *testing.T) {
	for _, p := range []place{{"job_a", "b", 0, 0}, {"job_AbcdEfgh12345678", mark("r1"), 1 << 40, 2.6666666666666665}} {
		if got, ok := parsePlace(p.String()); !ok || got != p {
			t.Errorf("%s: %+v", p, got)
		}
	}
	for _, text := range []string{"", "a/b/1", "a/b/-1/0", "a/b/1/-1", "a/b/1/NaN", "a/b/1/Inf", "a/b/01/0", "a/b/1/0/", "a/b/1e3/0", "a/b/9999999999999999999/0"} {
		if p, ok := parsePlace(text); ok {
			t.Errorf("%s: %+v", text, p)
		}
	}
}
