package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

const (
	documentSize = 100_000_000
	fieldRounds  = 20
	fieldMS      = 100 // 1 GB/s
)

// field is a reference to a value near the end of a long document, and the value.
type field struct {
	name, expr, want string
	// The document is a head, pieces up to its size, and a tail.
	head  string
	piece func(i int) string
	tail  string
}

// fields returns the documents from which a field is read.
func fields() []field {
	return []field{
		{"behind long records", "n.result.a.b", "42", `{"result":{"items":[`, record(500), `0],"a":{"b":42}}}`},
		{"behind short records", "n.result.a.b", "42", `{"result":{"items":[`, record(0), `0],"a":{"b":42}}}`},
		{"behind a long text", "n.result.a.b", "42", `{"result":{"log":"`, line("took 5 ms, and printed nothing more."), `","a":{"b":42}}}`},
		{"behind a text of JSON", "n.result.a.b", "42", `{"result":{"log":"`, line(`{\"took\":5,\"said\":\"nothing\"}\n`), `","a":{"b":42}}}`},
		{"in record 200000", "n.items[200000].id", "200000", `{"items":[`, record(426), `0]}`},
	}
}

// record returns a function that makes the records of a list, each with the given number of bytes of text and other members.
func record(text int) func(i int) string {
	words := strings.Repeat("some words ", text)[:text]
	return func(i int) string {
		return fmt.Sprintf(`{"id":%d,"name":"record %d","tags":["a","bb"],"ok":true,"text":"%s"},`, i, i, words)
	}
}

func line(s string) func(int) string { return func(int) string { return s } }

// document returns the document, of documentSize bytes or a few more.
func (f field) document() []byte {
	var b bytes.Buffer
	b.Grow(documentSize + 1000)
	b.WriteString(f.head)
	for i := 0; b.Len() < documentSize-len(f.tail); i++ {
		b.WriteString(f.piece(i))
	}
	b.WriteString(f.tail)
	return b.Bytes()
}

// measureFields measures how fast a field is read from a document that is known to be valid, next to a plain scan of the
// document.
func measureFields() ([]result, error) {
	var results []result
	for _, f := range fields() {
		measured, err := f.measure()
		if err != nil {
			return nil, fmt.Errorf("a field %s: %w", f.name, err)
		}
		results = append(results, measured)
	}
	return results, nil
}

func (f field) measure() (result, error) {
	document := f.document()
	ref, ok := template.ParseExpression(f.expr)
	if !ok || !json.Valid(document) {
		return result{}, errors.New("the reference or the document is invalid")
	}
	scope := func(template.Ref) (json.RawMessage, template.Availability) { return document, template.Present }
	var reads, scans []float64
	for round := range fieldRounds + 1 {
		start := time.Now()
		value, reason := template.Lookup(ref, scope)
		read := milliseconds(time.Since(start))
		if string(value) != f.want {
			return result{}, fmt.Errorf("%s is %q (%s), want %s", f.expr, value, reason, f.want)
		}
		start = time.Now()
		if bytes.Count(document, []byte{0}) > 0 {
			return result{}, errors.New("the document has a NUL byte")
		}
		scan := milliseconds(time.Since(start))
		if round > 0 {
			reads, scans = append(reads, read), append(scans, scan)
		}
	}
	speed := func(name string, times []float64) figure {
		return figure{name, quantity{float64(len(document)) / median(times) / 1e6, "GB/s"}}
	}
	return result{
		Subject: f.name, quantity: quantity{median(reads), "ms"}, Limit: fieldMS, Rounds: fieldRounds,
		Beside: []figure{speed("read", reads), speed("bytes.Count", scans)},
	}, nil
}
