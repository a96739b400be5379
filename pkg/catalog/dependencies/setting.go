package dependencies

import (
	"cmp"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// input adds the value of an input if the settings have it, or if it is secret, so that they should.
func (c *collector) input(name string, in workflow.Input) {
	_, inEnv := c.home.Settings.Env[name]
	_, inVars := c.home.Settings.Vars[name]
	secret := in.Secret || redact.SecretName(name)
	if secret || inEnv || inVars {
		set := inEnv || inVars || c.home.Getenv(name) != ""
		c.settings[Setting{Name: name, For: "input " + name, Secret: secret || inEnv, Required: in.IsRequired(), Set: set}] = true
	}
}

// variable adds a variable of the environment, whose value may be under env of the settings.
func (c *collector) variable(name, user string, required bool) {
	c.settings[Setting{Name: name, For: user, Secret: true, Required: required, Set: c.value(name) != ""}] = true
}

// value returns a variable of the environment, or else of env in the settings.
func (c *collector) value(name string) string {
	return cmp.Or(c.home.Getenv(name), c.home.Settings.Env[name])
}

// node adds the settings that a node's type reads.
func (c *collector) node(n *workflow.Node) {
	switch n.Type {
	case "llm":
		c.llm(n)
	case "agent":
		c.agent(n)
	}
}

// llm adds the model that a node leaves to the settings, and the key of the model's provider.
func (c *collector) llm(n *workflow.Node) {
	p := gjson.GetManyBytes(n.Params, "model", "provider", "base_url", "api_key")
	user, model, provider := "node "+n.ID, p[0].String(), p[1].String()
	if model == "" {
		standard := c.home.Settings.LLM.DefaultModel
		if model = c.value("PFLOW_LLM_MODEL"); model == "" {
			model = standard
		}
		c.settings[Setting{Name: "llm.default_model", For: user, Required: true, Set: model != ""}] = true
	}
	if model == "" || p[2].Exists() || p[3].Exists() || strings.Contains(model+provider, "${") {
		return
	}
	service, _, prefixed, _ := nodetype.PrefixedModel(model, "")
	if !prefixed {
		if provider = cmp.Or(provider, c.home.Settings.LLM.Provider); provider != "" {
			service, _ = nodetype.LLMServiceNamed(provider)
		} else {
			service, _, _ = nodetype.ServiceOfModel(model)
		}
	}
	if service.KeyVar != "" {
		c.variable(service.KeyVar, user, c.value(service.URLVar) == "")
	}
}

// agent adds the key of an agent that must have one.
func (c *collector) agent(n *workflow.Node) {
	p := gjson.GetManyBytes(n.Params, "backend", "use_api_key", "env")
	if !p[1].Bool() {
		return
	}
	key := "ANTHROPIC_API_KEY"
	if p[0].Str == nodetype.Codex {
		key = "OPENAI_API_KEY"
	}
	if !p[2].Get(key).Exists() {
		c.variable(key, "node "+n.ID, true)
	}
}
