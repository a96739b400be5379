package engine_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pflow-suite/pflow/pkg/engine/resume"
)

// What the engine itself costs: nodes of type echo, and a journal in memory.

func BenchmarkChain(b *testing.B) {
	var nodes, edges []string
	for i := range 1000 {
		nodes = append(nodes, fmt.Sprintf(`{"id":"n%d","type":"echo","params":{"data":%d}}`, i, i))
		if i > 0 {
			nodes[i] = fmt.Sprintf(`{"id":"n%d","type":"echo","params":{"data":"${n%d.data}"}}`, i, i-1)
			edges = append(edges, fmt.Sprintf(`{"from":"n%d","to":"n%d"}`, i-1, i))
		}
	}
	benchmark(b, `{"nodes":[`+strings.Join(nodes, ",")+`],"edges":[`+strings.Join(edges, ",")+`]}`)
}

func BenchmarkFanOut(b *testing.B) {
	nodes := []string{`{"id":"first","type":"echo"}`}
	for i := range 999 {
		nodes = append(nodes, fmt.Sprintf(`{"id":"n%d","type":"echo","params":{"data":"${first.echo}"}}`, i))
	}
	benchmark(b, `{"nodes":[`+strings.Join(nodes, ",")+`]}`)
}

func BenchmarkBatch(b *testing.B) {
	benchmark(b, `{"nodes":[{"id":"each","type":"echo","params":{"data":"${item}"},"batch":{"items":[0`+strings.Repeat(",1", 999)+`],"parallel":true,"max_concurrent":4}}]}`)
}

// A run that resumes one of a chain, of which only the last node is missing.
func BenchmarkResume(b *testing.B) {
	var nodes, edges []string
	for i := range 2000 {
		nodes = append(nodes, fmt.Sprintf(`{"id":"n%d","type":"echo","params":{"data":%d}}`, i, i))
		if i > 0 {
			edges = append(edges, fmt.Sprintf(`{"from":"n%d","to":"n%d"}`, i-1, i))
		}
	}
	c, first := inMemory(b, `{"nodes":[`+strings.Join(nodes, ",")+`],"edges":[`+strings.Join(edges, ",")+`]}`, time.Now)
	runInMemory(b, c)
	lines := bytes.SplitAfter(first.text.Bytes(), []byte("\n"))
	events := bytes.Join(lines[:len(lines)-3], nil)
	for b.Loop() {
		var err error
		if c.Memory, err = resume.Read(bytes.NewReader(events), first.Blob); err != nil {
			b.Fatal(err)
		}
		c.Journal = newMemoryJournal(c.RunID, time.Now)
		runInMemory(b, c)
	}
}

func benchmark(b *testing.B, definition string) {
	c, _ := inMemory(b, definition, time.Now)
	for b.Loop() {
		c.Journal = newMemoryJournal(c.RunID, time.Now)
		runInMemory(b, c)
	}
}
