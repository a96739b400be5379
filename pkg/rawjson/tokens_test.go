package rawjson

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestDuplicateKey(t *testing.T) {
	t.Parallel()
	var many []string
	for i := range 40 {
		many = append(many, fmt.Sprintf(`"k%d":%d`, i, i))
	}
	for text, want := range map[string]string{
		`{"a":1,"b":{"a":1}}`:                              "",
		`[{"a":1},{"a":2}]`:                                "",
		`{"a":"a","b":["a","a"]}`:                          "",
		`{ "a" : 1 , "a" : 2 }`:                            ": a",
		`{"a":1,"\u0061":2}`:                               ": a",
		`{"x":[0,{"y":{"a":[{"a":1}],"a":1}}]}`:            "x[1].y: a",
		`{"\"":{"\\":1,"\\":2}}`:                           `["\""]: \`,
		`{"":1,"":2}`:                                      ": ",
		`{` + strings.Join(many, ",") + `}`:                "",
		`{` + strings.Join(many, ",") + `,"k3":1}`:         ": k3",
		`{` + strings.Join(many, ",") + `,"x":1,"x":1}`:    ": x",
		`"{\"a\":1,\"a\":2}"`:                              "",
		`{"a":{},"b":[],"c":[[]],"a":true}`:                ": a",
		`[[[{"a":null,"b":{"c":-1.5e3,"d":"]}"},"a":0}]]]`: "[0][0][0]: a",
	} {
		if !json.Valid([]byte(text)) {
			t.Errorf("%s is not JSON, and should be", text)
		}
		path, key, found := DuplicateKey([]byte(text))
		if got := path + ": " + key; found != (want != "") || found && got != want {
			t.Errorf("%s: got %q (%v), want %q", text, got, found, want)
		}
	}
}

func TestFindNumber(t *testing.T) {
	t.Parallel()
	long := func(n string) bool { return len(n) > 3 }
	for text, want := range map[string]string{
		`12345`:                          ": 12345",
		`{"a":["12345",{"b":-1.5e300}]}`: "a[1].b: -1.5e300",
		`{"12345":1,"a":[1,22,333]}`:     "",
		`true`:                           "",
	} {
		path, number, found := FindNumber([]byte(text), long)
		if got := path + ": " + number; found != (want != "") || found && got != want {
			t.Errorf("%s: got %q (%v), want %q", text, got, found, want)
		}
	}
}

// FuzzTokens checks that a text that is not JSON is read to its end, too.
func FuzzTokens(f *testing.F) {
	for _, seed := range []string{`{"a":1,"a":2}`, `{"a`, `"\`, `]]{{`, `{"a"`, `{{"a":1`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(_ *testing.T, text []byte) {
		DuplicateKey(text)
		FindNumber(text, func(string) bool { return false })
	})
}
