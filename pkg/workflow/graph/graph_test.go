package graph

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/internal/golden"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

var formats = map[string]func(*Graph, io.Writer) error{
	"txt": (*Graph).Text, "mmd": (*Graph).Mermaid, "dot": (*Graph).Dot, "svg": (*Graph).SVG,
}

// read returns the graph of a workflow, which may be invalid, with the events of a run if there are any.
func read(t *testing.T, path string) *Graph {
	t.Helper()
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var w workflow.Workflow
	if err := json.Unmarshal(source, &w); err != nil {
		t.Fatal(err)
	}
	g := New(&w)
	events, err := os.ReadFile(strings.TrimSuffix(path, ".json") + ".ndjson")
	if errors.Is(err, os.ErrNotExist) {
		return g
	}
	if err != nil {
		t.Fatal(err)
	}
	for r := event.NewReader(bytes.NewReader(events)); ; {
		e, _, err := r.Next()
		if errors.Is(err, io.EOF) {
			return g
		}
		if err != nil {
			t.Fatal(err)
		}
		g.Apply(e)
	}
}

// TestGolden compares the drawings of each workflow of testdata with the files beside it.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, path := range files {
		g := read(t, path)
		for ext, draw := range formats {
			goldenFile := strings.TrimSuffix(path, "json") + ext
			got := drawn(t, g, draw)
			golden.Compare(t, goldenFile, got)
		}
	}
}

func drawn(t interface{ Fatal(...any) }, g *Graph, draw func(*Graph, io.Writer) error) string {
	var b strings.Builder
	if err := draw(g, &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestAWriterThatFailsIsSaid(t *testing.T) {
	g := read(t, "testdata/chain.json")
	for ext, draw := range formats {
		if err := draw(g, failing{}); !errors.Is(err, errFull) {
			t.Errorf("%s: %v", ext, err)
		}
	}
}

var errFull = errors.New("full")

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errFull }

// The workflow is the hardest to draw: the last node is first in the file, and every node reads the first one.
func TestALongChainIsDrawnInLinearSpace(t *testing.T) {
	var size [2]int
	for i, n := range []int{500, 5000} {
		w := &workflow.Workflow{}
		for i := range n {
			node := workflow.Node{ID: fmt.Sprintf("n%d", n-1-i), Type: "shell", Params: json.RawMessage(`{"stdin": "${n0.stdout}"}`)}
			w.Nodes = append(w.Nodes, node)
			w.Edges = append(w.Edges, workflow.Edge{From: fmt.Sprintf("n%d", i), To: fmt.Sprintf("n%d", i+1)})
		}
		g := New(w)
		if got := len(g.arrange().vertices); got > n*maxBends {
			t.Errorf("%d nodes take %d places", n, got)
		}
		size[i] = len(drawn(t, g, (*Graph).SVG))
		if first, _, _ := strings.Cut(drawn(t, g, (*Graph).Text), "\n"); !strings.HasPrefix(first, "n0 ") {
			t.Errorf("the first is %s", first)
		}
	}
	if size[1] > 12*size[0] {
		t.Errorf("500 nodes make %d bytes, 5,000 nodes %d", size[0], size[1])
	}
}
