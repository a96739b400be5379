package graph

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// TestAnyWorkflowIsDrawn draws any workflow in every format, and checks that its text is escaped.
func TestAnyWorkflowIsDrawn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := anyGraph(t)
		checkText(t, g)
		checkLines(t, drawn(t, g, (*Graph).Mermaid), mermaidQuoted, mermaidLine)
		checkLines(t, drawn(t, g, (*Graph).Dot), dotQuoted, dotLine)
		checkSVG(t, g)
		checkLayout(t, g)
	})
}

// anyWorkflow draws a workflow that may be hostile: with cycles, duplicate ids, and edges to nodes that do not exist.
func anyWorkflow(t *rapid.T) *workflow.Workflow {
	ids := rapid.OneOf(rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f-1", "_"}), rapid.String())
	text := rapid.OneOf(rapid.SampledFrom([]string{"", "shell", workflow.SubType, "\"]; x --> y", "--> </text> ]]> %%{init:{}}%%", "\\", "`x`", "&lt;", "\x1b[2J\u202e\u200b\n", "\xff\ufffe"}), rapid.String())
	w := &workflow.Workflow{Description: text.Draw(t, "description"), StartNode: rapid.SampledFrom([]string{"", "", "a", "nowhere"}).Draw(t, "start")}
	if rapid.Bool().Draw(t, "with input") {
		w.Inputs = map[string]workflow.Input{"a": {}}
	}
	for range rapid.IntRange(0, 12).Draw(t, "nodes") {
		params, err := json.Marshal(map[string]string{"workflow": text.Draw(t, "workflow"), "p": "${" + ids.Draw(t, "read") + ".x ?? " + ids.Draw(t, "read") + ".y}"})
		if err != nil {
			t.Fatal(err)
		}
		n := workflow.Node{ID: ids.Draw(t, "id"), Type: text.Draw(t, "type"), Purpose: text.Draw(t, "purpose"), Params: params}
		switch rapid.IntRange(0, 5).Draw(t, "what") {
		case 0:
			n.Batch = &workflow.Batch{Items: json.RawMessage(`"${b.list}"`), As: "a"}
		case 1:
			n.Loop, n.Retry = &workflow.Loop{Until: "${c.done}"}, &workflow.Retry{Max: 3}
		case 2:
			n.Approval, n.Cache = &workflow.Approval{}, &workflow.Cache{}
		}
		w.Nodes = append(w.Nodes, n)
	}
	for range rapid.IntRange(0, 20).Draw(t, "edges") {
		w.Edges = append(w.Edges, workflow.Edge{From: ids.Draw(t, "from"), To: ids.Draw(t, "to"), Action: text.Draw(t, "action")})
	}
	return w
}

// anyGraph draws the graph of any workflow, with any events applied.
func anyGraph(t *rapid.T) *Graph {
	w := anyWorkflow(t)
	g := New(w)
	kinds := []event.Kind{event.NodeStarted, event.NodeCompleted, event.NodeReused, event.NodeFailed, event.NodeSkipped, event.NodeCancelled, event.ItemCompleted, event.ApprovalRequested, event.RunFinished}
	for range rapid.IntRange(0, 10).Draw(t, "events") {
		e := &event.Event{Event: rapid.SampledFrom(kinds).Draw(t, "event"), Node: "nowhere", Attempt: rapid.IntRange(-1, 3).Draw(t, "attempt")}
		if len(w.Nodes) > 0 {
			e.Node = w.Nodes[rapid.IntRange(0, len(w.Nodes)-1).Draw(t, "node")].ID
		}
		if ms := rapid.Float64().Draw(t, "ms"); ms > 0 {
			e.DurationMS = &ms
		}
		g.Apply(e)
	}
	return g
}

// checkText checks that each node has a line after those of the nodes that it waits for, without control characters.
func checkText(t *rapid.T, g *Graph) {
	text := drawn(t, g, (*Graph).Text)
	if got := strings.Count(text, "\n"); got != len(g.nodes) {
		t.Fatalf("%d lines for %d nodes:\n%s", got, len(g.nodes), text)
	}
	if i := strings.IndexFunc(text, func(r rune) bool { return r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) }); i >= 0 {
		t.Fatalf("%q", text)
	}
	at := make([]int, len(g.nodes))
	for place, i := range g.order {
		at[i] = place
	}
	for _, e := range g.edges {
		if e.back != (at[e.from] >= at[e.to]) {
			t.Fatalf("%+v is wrong in %v", e, g.order)
		}
	}
}

// Lines of Mermaid and of dot, with Q in place of quoted text.
var (
	mermaidQuoted = regexp.MustCompile(`"([^"#&<>%{}\\` + "`" + `:;|\[\]]|#\d+;|<br/>)*"`)
	mermaidLine   = regexp.MustCompile(`^(flowchart TD|    n\d+(\[Q\]|\[\[Q\]\]|\{\{Q\}\})|    n\d+ (-->|-\.->|-->\|Q\|) n\d+|    classDef [a-z]+ fill:#[0-9a-f]+,stroke:#[0-9a-f]+,color:#[0-9a-f]+|    class n\d+(,n\d+)* [a-z]+)$`)
	dotQuoted     = regexp.MustCompile(`"([^"\\]|\\["\\n])*"`)
	dotLine       = regexp.MustCompile(`^(digraph workflow \{|    label=Q; labelloc=t;|    node \[shape=box, style=Q, fillcolor=Q\];|    n\d+ \[label=Q(, shape=\w+)?(, fillcolor=Q, color=Q)?\];|    n\d+ -> n\d+( \[(style=dashed|label=Q)\])?;|\})$`)
)

func checkLines(t *rapid.T, text string, quoted, line *regexp.Regexp) {
	for l := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		if !line.MatchString(quoted.ReplaceAllString(l, "Q")) {
			t.Fatalf("%q", l)
		}
	}
}

// checkSVG checks that the picture is XML with the expected elements, none of which loads or runs anything.
func checkSVG(t *rapid.T, g *Graph) {
	svg := drawn(t, g, (*Graph).SVG)
	count := map[string]int{}
	for dec := xml.NewDecoder(strings.NewReader(svg)); ; {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v:\n%s", err, svg)
		}
		if start, ok := token.(xml.StartElement); ok {
			count[start.Name.Local]++
			for _, a := range start.Attr {
				if strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "href" || strings.Contains(a.Value, "NaN") || strings.Contains(a.Value, "Inf") {
					t.Fatalf("%s=%q", a.Name.Local, a.Value)
				}
			}
		}
	}
	for name := range count {
		if !strings.Contains(" svg title desc style rect path g text ", " "+name+" ") {
			t.Fatalf("there is a %s", name)
		}
	}
	if count["svg"] != 1 || count["style"] != 1 || count["g"] != len(g.nodes) || count["title"] != len(g.nodes)+1 || count["path"] != 2*len(g.edges) {
		t.Fatalf("%v for %d nodes and %d edges", count, len(g.nodes), len(g.edges))
	}
}

// checkLayout checks that boxes do not overlap, are inside the picture, and are below the nodes that they wait for.
func checkLayout(t *rapid.T, g *Graph) {
	l := g.arrange()
	for _, row := range l.rows {
		for at, i := range row {
			v := &l.vertices[i]
			if v.x-v.width/2 < margin-1 || v.x+v.width/2 > l.width-margin+1 || v.top < margin || v.top+v.height > l.height-margin+1 {
				t.Fatalf("%+v is outside of %v x %v", v, l.width, l.height)
			}
			if at == 0 {
				continue
			}
			if left := &l.vertices[row[at-1]]; v.place != at || v.x-left.x < (v.width+left.width)/2+gap-1 {
				t.Fatalf("%+v meets %+v", left, v)
			}
		}
	}
	for _, e := range g.edges {
		if from, to := l.vertices[e.from], l.vertices[e.to]; !e.back && from.top+from.height > to.top {
			t.Fatalf("%+v is not above %+v", from, to)
		}
	}
}

// TestDotIsAccepted runs Graphviz if it is installed.
func TestDotIsAccepted(t *testing.T) {
	dot, err := exec.LookPath("dot")
	if err != nil {
		t.Skip("Graphviz is not installed")
	}
	var graphs strings.Builder
	for seed := range 50 {
		graphs.WriteString(drawn(t, rapid.Custom(anyGraph).Example(seed), (*Graph).Dot))
	}
	cmd := exec.CommandContext(t.Context(), dot, "-Tplain")
	cmd.Stdin = strings.NewReader(graphs.String())
	var complaints strings.Builder
	cmd.Stderr = &complaints
	if err := cmd.Run(); err != nil || complaints.Len() > 0 {
		t.Errorf("%v: %s", err, complaints.String())
	}
}
