package template

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"testing"
)

// BenchmarkField reads a value near the end of documents of 100 MB. A document is a head, numbered pieces and a tail. scripts/bench has its limit.
func BenchmarkField(b *testing.B) {
	const record = `{"id":#,"name":"record #","tags":["a","bb"],"ok":true,"text":"TEXT"},`
	some := func(n int) string { return strings.Replace(record, "TEXT", strings.Repeat("some words ", n)[:n], 1) }
	for _, c := range []struct{ name, expr, want, head, piece, tail string }{
		{"behind long records", "n.result.a.b", "42", `{"result":{"items":[`, some(500), `0],"a":{"b":42}}}`},
		{"behind short records", "n.result.a.b", "42", `{"result":{"items":[`, some(0), `0],"a":{"b":42}}}`},
		{"behind a long text", "n.result.a.b", "42", `{"result":{"log":"`, "took 5 ms, and printed nothing more.", `","a":{"b":42}}}`},
		{"behind a text of JSON", "n.result.a.b", "42", `{"result":{"log":"`, `{\"took\":5,\"said\":\"nothing\"}\n`, `","a":{"b":42}}}`},
		{"in record 200000", "n.items[200000].id", "200000", `{"items":[`, some(426), `0]}`},
	} {
		b.Run(c.name, func(b *testing.B) {
			var document bytes.Buffer
			document.WriteString(c.head)
			for i := 0; document.Len() < 100_000_000-len(c.tail); i++ {
				document.WriteString(strings.ReplaceAll(c.piece, "#", strconv.Itoa(i)))
			}
			document.WriteString(c.tail)
			ref, ok := ParseExpression(c.expr)
			if !ok || !json.Valid(document.Bytes()) {
				b.Fatalf("the reference %q or the document is invalid", c.expr)
			}
			scope := func(Ref) (json.RawMessage, Availability) { return document.Bytes(), Present }
			b.SetBytes(int64(document.Len()))
			for b.Loop() {
				if value, reason := Lookup(ref, scope); string(value) != c.want {
					b.Fatalf("%s is %q (%s), want %s", c.expr, value, reason, c.want)
				}
			}
		})
	}
}
