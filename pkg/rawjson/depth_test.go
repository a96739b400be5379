package rawjson

import "testing"

func TestDepth(t *testing.T) {
	for text, want := range map[string]int{
		`1`: 0, `"[["`: 0, `[]`: 1, `{"a":{"b":[1]},"c":[]}`: 3, `["\\",["\"[["]]`: 2, `[[],[[]],{}]`: 3, `"\\\\"`: 0,
	} {
		if got := Depth([]byte(text)); got != want {
			t.Errorf("%s: %d, not %d", text, got, want)
		}
	}
}
