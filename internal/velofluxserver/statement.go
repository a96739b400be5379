package velofluxserver

import (
	_ "embed" // the statements
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// statements has the answers of a real Manager to SQL statements, for a pipeline with one sink.
//
//go:embed data/statements.json
var statements []byte

// Statement is an SQL statement and a Manager's answer to it. In its texts {id} stands for the pipeline's id, {sink} for
// that of its sink, and {connector} for the sink's type.
type Statement struct {
	SQL string `json:"sql"`
	// Eventtime is true if the answer is for a pipeline with options.eventtime.enabled.
	Eventtime bool `json:"eventtime,omitempty"`
	// Streams are the streams that the statement reads. If one does not exist, the Manager says that instead.
	Streams []string `json:"streams,omitempty"`
	// Parse is what is wrong with the statement itself, and Build what is wrong with a plan for it. One of them, or both
	// plans, are set.
	Parse string `json:"parse,omitempty"`
	Build string `json:"build,omitempty"`
	// Logical and Physical are the lines of the plans: a node and its description with | between them.
	Logical  []string `json:"logical,omitempty"`
	Physical []string `json:"physical,omitempty"`
}

// Statements returns the recorded statements.
func Statements() []Statement { return slices.Clone(recorded()) }

// recorded reads the statements once: they take longer than all else that a server does until it listens.
var recorded = sync.OnceValue(func() []Statement {
	var all []Statement
	if err := json.Unmarshal(statements, &all); err != nil {
		panic(err)
	}
	return all
})

// AddStatement adds a statement, or replaces the recorded answer to it.
func (s *Server) AddStatement(added Statement) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.statements = append([]Statement{added}, s.statements...)
}

// statement returns the answer to the SQL of a pipeline. If it is not known, that is reported as a mistake of the test.
func (s *Server) statement(of spec) (found *Statement, known bool) {
	for i := range s.statements {
		found := &s.statements[i]
		if found.SQL == strings.TrimRight(of.SQL, " \t\r\n") && found.Eventtime == of.Options.Eventtime.Enabled {
			return found, true
		}
	}
	return nil, false
}

// explained returns both plans, padded as the Manager pads them.
func (p *pipeline) explained() string {
	fill := strings.NewReplacer("{id}", p.spec.ID, "{sink}", p.sinks[0].id, "{connector}", p.sinks[0].connector)
	return "Logical Plan Explain:\n" + table(p.plan.Logical, fill) + "\n\nPhysical Plan Explain:\n" + table(p.plan.Physical, fill)
}

// table draws the lines of a plan. Like the Manager, it takes the width of a column from the bytes of its longest text but
// pads by characters, so that texts with box characters get too many spaces.
func table(lines []string, fill *strings.Replacer) string {
	drawn := [][2]string{{"- id", "info"}}
	var left, right int
	for _, line := range lines {
		node, info, _ := strings.Cut(fill.Replace(line), "|")
		drawn = append(drawn, [2]string{node, info})
		left, right = max(left, len(node)), max(right, len(info), len("info"))
	}
	var out []string
	for _, row := range drawn {
		out = append(out, padded(row[0], left)+" | "+padded(row[1], right))
	}
	return strings.Join(out, "\n")
}

func padded(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(text)))
}

// stats returns the counters of a running pipeline. No records arrive, because the source cannot connect.
func (p *pipeline) stats() []json.RawMessage {
	all := []json.RawMessage{}
	for _, line := range p.plan.Physical {
		node, _, _ := strings.Cut(strings.TrimLeft(line, " └─"), "|")
		name, _, _ := strings.Cut(node, "_")
		if name == "PhysicalResultCollect" || strings.Contains(node, "/") { // shared/… is not the pipeline's own
			continue
		}
		errors, last := 0, "null"
		switch name {
		case "PhysicalDataSink":
			node += "_" + p.sinks[0].id
		case "PhysicalDataSource":
			errors, last = 3, `"connector error: connection error: I/O: Connection refused (os error 111)"`
		}
		all = append(all, fmt.Appendf(nil, `{"processor_id":%s,"stats":{"records_in":0,"records_out":0,"error_count":%d,"last_error":%s}}`, quoted(node), errors, last))
	}
	return all
}
