package veloflux

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode/utf8"
)

// fuzzDigest asserts that a digest of any input is an error, or UTF-8 JSON that is the same each time.
func fuzzDigest(f *testing.F, name string, seeds ...string) {
	for _, s := range append(seeds, ``, `[]`, `{}`, `null`, `[{"name":"a"}]`, `[{"name":"\ud800\u2028<"}]`) {
		f.Add([]byte(s))
	}
	digest := digests()[name]
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := digest(body)
		if err != nil {
			if got != nil || err.Error() == "" {
				t.Fatalf("%s with %q", got, err)
			}
			return
		}
		if !json.Valid(got) || !utf8.Valid(got) {
			t.Fatalf("not JSON: %q", got)
		}
		if again, err := digest(body); err != nil || !bytes.Equal(got, again) {
			t.Fatalf("not the same again: %s\n%s (%v)", got, again, err)
		}
	})
}

func FuzzFunctionsDigest(f *testing.F) {
	fuzzDigest(f, "functions", `[{"name":"a","kind":"scalar","aliases":["b"],"signature":{"args":[1,2]},"allowed_contexts":["select"],"requirements":[{"kind":"x"}]}]`)
}

func FuzzSyntaxDigest(f *testing.F) {
	fuzzDigest(f, "syntax", `{"dialect":"d","ir":"i","constructs":[{"id":"window","type":"t","title":"T","semantics":" s ","placement":{"a":1},"children":[{"id":"window.x"}]}]}`)
}

func FuzzStreamsSnapshot(f *testing.F) {
	fuzzDigest(f, "snapshot", `[{"name":"s","schema":{"columns":[{"name":"a"},{"name":7},8]}}]`)
}

func FuzzStreamSchema(f *testing.F) {
	fuzzDigest(f, "schema", `{"spec":{"schema":{"columns":[{"name":"a"}]}}}`)
}
