package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/pflow-suite/pflow/pkg/catalog/page"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/terminal/cells"
)

// component is a node type. In full it has its whole interface; in brief, only Type and Description.
type component struct {
	Type        string            `json:"type"`
	Description string            `json:"description"`
	Inputs      []parameter       `json:"inputs,omitzero"`
	InputsTotal int               `json:"inputs_total,omitempty"` // if Inputs are not all
	Outputs     []nodetype.Output `json:"outputs,omitzero"`
	Actions     []string          `json:"actions,omitzero"`
	// Truncated is true if a full component was shortened. A brief one is not.
	Truncated bool `json:"truncated,omitempty"`
	// Error is set if the entry of the type is broken.
	Error *fault.Fault `json:"error,omitempty"`
}

// parameter is a parameter under both names of its name that registries use.
type parameter struct {
	Key string `json:"key"`
	nodetype.Param
}

// componentOf returns a type in full, without secrets.
func componentOf(t nodetype.Type, secrets *redact.Redactor) component {
	c := component{
		Type: t.Name, Description: secrets.Text(t.Description),
		Inputs: []parameter{}, Outputs: append([]nodetype.Output{}, t.Outputs...), Actions: append([]string{}, t.Actions...),
	}
	for _, in := range nodetype.Redacted(t.Params, secrets) {
		c.Inputs = append(c.Inputs, parameter{in.Name, in})
	}
	for i := range c.Outputs {
		c.Outputs[i].Description = secrets.Text(c.Outputs[i].Description)
	}
	return c
}

// maxBrief is the most bytes of a description in brief.
const maxBrief = 160

// brief returns the component in brief.
func (c component) brief() component {
	return component{Type: c.Type, Description: page.Cut(c.Description, maxBrief), Error: c.Error}
}

// within returns the component shortened to a number of bytes: first its descriptions, then its other parts, least important
// first. What remains is a brief component, which may be larger unless the number is at least page.Least.
func (c component) within(most int) component {
	if page.Size(c) <= most {
		return c
	}
	for _, text := range []int{240, 120, 80, 40, 0} {
		if short := c.described(text); page.Size(short) <= most {
			return short
		}
	}
	short := c.described(0)
	short.Outputs, short.Actions = nil, nil
	short.requiredFirst(most)
	if page.Size(short) <= most && len(short.Inputs) > 0 {
		return short
	}
	short = component{Type: c.Type, Description: page.Cut(c.Description, maxBrief), Truncated: true}
	if page.Size(short) > most {
		short.Description = ""
		short.Type = page.Cut(c.Type, max(most-page.Size(component{Truncated: true}), maxBrief))
	}
	return short
}

// described returns the component with descriptions of at most the given number of bytes, twice as many for its own, and without
// large defaults and lists of permitted values.
func (c component) described(most int) component {
	short := c
	short.Truncated, short.Description = true, page.Cut(c.Description, max(2*most, maxBrief))
	short.Inputs, short.Outputs = make([]parameter, len(c.Inputs)), make([]nodetype.Output, len(c.Outputs))
	for i, in := range c.Inputs {
		in.Description = page.Cut(in.Description, most)
		if len(in.Default) > maxBrief {
			in.Default = nil
		}
		if len(in.Enum) > max(4*most, 2*maxBrief) {
			in.Enum = nil
		}
		short.Inputs[i] = in
	}
	for i, out := range c.Outputs {
		out.Description = page.Cut(out.Description, most)
		short.Outputs[i] = out
	}
	return short
}

// requiredFirst leaves only as many parameters as fit, the required ones first.
func (c *component) requiredFirst(most int) {
	var ordered []parameter
	for _, required := range []bool{true, false} {
		for _, in := range c.Inputs {
			if in.Required == required {
				ordered = append(ordered, in)
			}
		}
	}
	c.InputsTotal, c.Inputs = len(ordered), []parameter{}
	if c.Inputs, _, _ = page.Fill(0, len(ordered), 0, most-page.Size(c), false, func(i int) (parameter, error) { return ordered[i], nil }); len(c.Inputs) == len(ordered) {
		c.InputsTotal = 0
	}
}

// text prints the interface for people, on a terminal of that many columns, or 0 for another file.
func (c component) text(w io.Writer, columns int) {
	p := harmless(w)
	p("%s: %s\n", c.Type, c.Description)
	var inputs, outputs cells.Table
	for _, in := range c.Inputs {
		need := "optional"
		if in.Required {
			need = "required"
		}
		inputs.Row("", in.Name, in.Type, need, in.Description+extras(in.Default, in.Enum))
	}
	for _, out := range c.Outputs {
		outputs.Row("", out.Name, out.Type, out.Description)
	}
	if len(c.Inputs) > 0 {
		p("parameters:\n")
		_ = inputs.WriteWhole(w, columns)
	}
	if len(c.Outputs) > 0 {
		p("outputs:\n")
		_ = outputs.WriteWhole(w, columns)
	}
	p("actions: %s\n", strings.Join(c.Actions, ", "))
}

// extras returns a parameter's default and its permitted values, as text.
func extras(standard, enum json.RawMessage) (text string) {
	if standard != nil {
		text += fmt.Sprintf(" [%s]", standard)
	}
	if enum != nil {
		text += fmt.Sprintf(" (one of %s)", enum)
	}
	return text
}
