package event

import (
	"encoding/json"
	"testing"
)

func TestHalvesOfCharacters(t *testing.T) {
	for given, want := range map[string]string{
		`"plain"`:                   `"plain"`,
		`"\ud83d\ude00"`:            `"\ud83d\ude00"`,
		`"\uD83D\uDE00 \n"`:         `"\uD83D\uDE00 \n"`,
		`"\ud800"`:                  `"\ufffd"`,
		`"a\udc00b"`:                `"a\ufffdb"`,
		`"\ud800\ud83d\ude00"`:      `"\ufffd\ud83d\ude00"`,
		`"\ud800\n"`:                `"\ufffd\n"`,
		`"\\ud800"`:                 `"\\ud800"`,
		`"\\\ud800"`:                `"\\\ufffd"`,
		`"\u00e9\ud800"`:            `"\u00e9\ufffd"`,
		`{"\udfff":["\ud8ab","x"]}`: `{"\ufffd":["\ufffd","x"]}`,
	} {
		raw := json.RawMessage(given)
		if got := string(Escape(raw)); got != want {
			t.Errorf("%s becomes %s, want %s", given, got, want)
		}
		if string(raw) != given {
			t.Errorf("%s has been changed in its place", given)
		}
	}
}
