package suite

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// gate is a named pipe. A process that reads it waits until the test opens it.
type gate struct {
	*place
	path string
}

func (p *place) gate(name string) *gate {
	p.Helper()
	g := &gate{p, filepath.Join(p.dir, name)}
	if err := syscall.Mkfifo(g.path, 0o600); err != nil {
		p.Fatal(err)
	}
	return g
}

// reached waits until a process reads the gate, and returns a function that opens it. Without a call of that, the process
// waits until the test ends.
func (g *gate) reached() (open func()) {
	g.Helper()
	var f *os.File
	g.eventually("somebody reads "+filepath.Base(g.path), func() (ok bool) {
		var err error
		f, err = os.OpenFile(g.path, os.O_WRONLY|syscall.O_NONBLOCK, 0) // fails while there is no reader
		return err == nil
	})
	g.Cleanup(func() { _ = f.Close() })
	return func() {
		if _, err := f.WriteString("go on\n"); err != nil {
			g.Error(err)
		}
		_ = f.Close()
	}
}

// left waits until no process reads the gate any more: children of a killed runner end a little later.
func (g *gate) left() {
	g.Helper()
	g.eventually("nobody reads "+filepath.Base(g.path), func() bool {
		f, err := os.OpenFile(g.path, os.O_WRONLY|syscall.O_NONBLOCK, 0)
		if err != nil {
			return true
		}
		_ = f.Close()
		return false
	})
}

// chain is a workflow of shell nodes a, b, c… that run one after the other; its output last is what the last printed.
func chain(commands ...string) string {
	type node struct {
		ID     string            `json:"id"`
		Type   string            `json:"type"`
		Params map[string]string `json:"params"`
	}
	type edge struct {
		From string `json:"from"`
		To   string `json:"to"`
	}
	var nodes []node
	edges := []edge{}
	for i, c := range commands {
		id := string(rune('a' + i))
		nodes = append(nodes, node{id, "shell", map[string]string{"command": c}})
		if i > 0 {
			edges = append(edges, edge{nodes[i-1].ID, id})
		}
	}
	last := nodes[len(nodes)-1].ID
	b, err := json.Marshal(map[string]any{
		"description": "Nodes one after the other", "nodes": nodes, "edges": edges,
		"outputs": map[string]any{"last": map[string]string{"source": "${" + last + ".stdout}"}},
	})
	if err != nil {
		panic(err)
	}
	return string(b)
}

// gated is a chain of three nodes whose second waits at the gate "gate". Each node writes its name to ran.txt.
func gated() string {
	return chain("echo a >> ran.txt; echo first", "echo b >> ran.txt; read x < gate", "echo c >> ran.txt; echo third")
}

// events decodes NDJSON, which must consist of whole lines with one JSON object each.
func (p *place) events(ndjson string) []map[string]any {
	p.Helper()
	if ndjson != "" && !strings.HasSuffix(ndjson, "\n") {
		p.Errorf("the last line is torn: %q", ndjson[strings.LastIndexByte(ndjson, '\n')+1:])
	}
	var events []map[string]any
	for line := range strings.Lines(ndjson) {
		var e map[string]any
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			p.Errorf("no JSON object: %v: %q", err, line)
			continue
		}
		events = append(events, e)
	}
	return events
}

// last returns the last event of a stream.
func (p *place) last(ndjson string) map[string]any {
	p.Helper()
	events := p.events(ndjson)
	if len(events) == 0 {
		p.Fatal("there are no events")
	}
	return events[len(events)-1]
}

// document decodes one JSON object.
func (p *place) document(text string) map[string]any {
	p.Helper()
	var d map[string]any
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		p.Fatalf("no JSON object: %v: %q", err, text)
	}
	return d
}

// journals returns the paths of the journals of the home's runs, oldest first.
func (p *place) journals() []string {
	p.Helper()
	paths, err := filepath.Glob(filepath.Join(p.home, "runs", "r*", "journal.ndjson"))
	if err != nil {
		p.Fatal(err)
	}
	return paths
}

// journal returns the journal of the newest run.
func (p *place) journal() string {
	p.Helper()
	paths := p.journals()
	if len(paths) == 0 {
		p.Fatal("there is no run")
	}
	b, err := os.ReadFile(paths[len(paths)-1])
	if err != nil {
		p.Fatal(err)
	}
	return string(b)
}
