package docs

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// objects are the objects of a workflow file, each with the heading of the chapter that has the table of its fields.
var objects = map[reflect.Type]string{
	reflect.TypeFor[workflow.Workflow](): "### Workflow object",
	reflect.TypeFor[workflow.Runtime]():  "### Runtime object",
	reflect.TypeFor[workflow.Input]():    "### Input",
	reflect.TypeFor[workflow.Node]():     "### Node",
	reflect.TypeFor[workflow.Batch]():    "### Batch object",
	reflect.TypeFor[workflow.Loop]():     "### Loop object",
	reflect.TypeFor[workflow.Retry]():    "### Retry object",
	reflect.TypeFor[workflow.Timeout]():  "### Timeout object",
	reflect.TypeFor[workflow.Approval](): "### Approval object",
	reflect.TypeFor[workflow.Cache]():    "### Cache object",
	reflect.TypeFor[workflow.Edge]():     "### Edge",
	reflect.TypeFor[workflow.Budget]():   "### Budget object",
	reflect.TypeFor[workflow.Output]():   "### Output",
}

// TestTables: the page of the language has a table of the fields of every object that can stand in a workflow file, and of
// the examples, and each says what the programs know.
func TestTables(t *testing.T) {
	all := map[string][]string{"## Examples": examplesTable(t)}
	for typ := range reachable(reflect.TypeFor[workflow.Workflow](), map[reflect.Type]bool{}) {
		heading, ok := objects[typ]
		if !ok {
			t.Fatalf("%v can stand in a workflow file, and has no heading here", typ)
		}
		all[heading] = fieldsTable(t, typ)
	}
	compareTables(t, workflows, all)
}

// compareTables holds the tables of a page to what they are to be, by the headings that they stand below.
func compareTables(t *testing.T, name string, tables map[string][]string) {
	t.Helper()
	p := readPage(t, name)
	for _, h := range slices.Backward(p.headings) { // so that a change moves no heading that is still to come
		want, ok := tables[h.text]
		if !ok {
			continue
		}
		delete(tables, h.text)
		first, end := p.tableAfter(h)
		got := p.lines[first:end]
		switch {
		case slices.Equal(got, want):
		case !*update:
			t.Errorf("%s: the table below %q is\n%s\nnot\n%s\n(go test ./docs -update writes it)", name, h.text, strings.Join(want, "\n"), strings.Join(got, "\n"))
		case first == end: // there was none
			p.lines = slices.Insert(p.lines, first, append(want, "")...)
		default:
			p.lines = slices.Replace(p.lines, first, end, want...)
		}
	}
	for title := range tables {
		t.Errorf("%s has no heading %q", name, title)
	}
	if *update && !t.Failed() {
		if err := os.WriteFile(name, []byte(strings.Join(p.lines, "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// reachable collects the struct types to which the fields of a type lead, itself included.
func reachable(typ reflect.Type, found map[reflect.Type]bool) map[reflect.Type]bool {
	switch typ.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		reachable(typ.Elem(), found)
	case reflect.Struct:
		if found[typ] {
			break
		}
		found[typ] = true
		for f := range typ.Fields() {
			if f.IsExported() {
				reachable(f.Type, found)
			}
		}
	}
	return found
}

// fieldsTable has the fields of an object, the form of each value, and what its help tag says.
func fieldsTable(t *testing.T, typ reflect.Type) []string {
	t.Helper()
	lines := []string{"| field | value | meaning |", "| --- | --- | --- |"}
	for f := range typ.Fields() {
		if !f.IsExported() {
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		help := f.Tag.Get("help")
		if name == "" || help == "" {
			t.Errorf("%v.%s has no name or no help", typ, f.Name)
		}
		value := form(f.Type)
		if name == "params" {
			value = "object"
		}
		if options != "omitempty" {
			value += ", required"
		}
		lines = append(lines, row("`"+name+"`", value, help))
	}
	return lines
}

func row(cells ...string) string {
	for i, cell := range cells {
		cells[i] = strings.ReplaceAll(cell, "|", `\|`)
	}
	return "| " + strings.Join(cells, " | ") + " |"
}

// form is what a field's value is, in words.
func form(typ reflect.Type) string {
	switch typ {
	case reflect.TypeFor[json.RawMessage]():
		return "any"
	case reflect.TypeFor[workflow.Duration]():
		return "duration"
	case reflect.TypeFor[rawjson.Bytes]():
		return "size"
	}
	switch typ.Kind() {
	case reflect.Pointer:
		return form(typ.Elem())
	case reflect.Slice:
		return "list of " + form(typ.Elem())
	case reflect.Map:
		return "by name: " + form(typ.Elem())
	case reflect.Struct:
		name := strings.ToLower(strings.TrimPrefix(objects[typ], "### "))
		return "[" + name + "](#" + strings.ReplaceAll(name, " ", "-") + ")"
	case reflect.Bool:
		return "true or false"
	case reflect.Int:
		return "integer"
	case reflect.Float64:
		return "number"
	}
	return "text"
}

// examplesTable has each example with its own description.
func examplesTable(t *testing.T) []string {
	t.Helper()
	lines := []string{"| file | what it does |", "| --- | --- |"}
	for _, name := range exampleFiles(t) {
		source, err := os.ReadFile(filepath.Join(examples, name))
		if err != nil {
			t.Fatal(err)
		}
		file, err := workflow.Parse(name, source)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, row("["+name+"](../examples/"+name+")", strings.ReplaceAll(file.Workflow.Description, "\n", " ")))
	}
	return lines
}

// tableAfter is where the first table below a heading stands; where there is none, it is where one would begin.
func (p *page) tableAfter(h heading) (first, end int) {
	first = h.line + 1
	for first < len(p.lines) && !strings.HasPrefix(p.lines[first], "#") && !strings.HasPrefix(p.lines[first], "|") {
		first++
	}
	for end = first; end < len(p.lines) && strings.HasPrefix(p.lines[end], "|"); end++ {
	}
	return first, end
}
