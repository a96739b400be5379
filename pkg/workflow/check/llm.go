package check

import (
	"encoding/json"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// llmType is the node type that asks a language model.
const llmType = "llm"

// llm checks what the parameters of an llm node say together, as far as no template makes them.
func (c *checker) llm(n *workflow.Node, kind nodetype.Type, params map[string]json.RawMessage, at string) {
	if kind.Name != llmType {
		return
	}
	report := func(param string, f *fault.Fault) {
		if f == nil {
			return
		}
		shown := c.fail(at+".params."+param, "Node %q: %s", n.ID, f.Message)
		shown.SuggestAs(f).Node = n.ID
		shown.Available, shown.AvailableTotal = f.Available, f.AvailableTotal
	}
	given := func(name string) bool { return params[name] != nil && string(params[name]) != "null" }
	if model := literalText(params["model"]); model != "" && !given("base_url") {
		_, _, _, f := nodetype.PrefixedModel(model, literalText(params["provider"]))
		report("model", f)
	}
	thinks := given("reasoning_effort") || given("reasoning_max_tokens")
	if given("reasoning_effort") && given("reasoning_max_tokens") {
		report("reasoning_max_tokens", fault.New(fault.Validation, "reasoning_effort and reasoning_max_tokens exclude each other").Suggest("Keep one of them"))
	}
	var options map[string]json.RawMessage
	if json.Unmarshal(params["model_options"], &options) == nil {
		report("model_options", nodetype.LLMOptionsFault(options, thinks))
	}
}

// literalText returns a text without templates, or "".
func literalText(raw json.RawMessage) (text string) {
	if template.MayHoldTemplate(raw) || json.Unmarshal(raw, &text) != nil {
		return ""
	}
	return strings.TrimSpace(text)
}
