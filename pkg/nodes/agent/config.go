package agent

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/process"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// checkConfig returns a fault for a name in config that codex could not read, or whose value a parameter sets.
func checkConfig(in *nodetype.Agent, sandbox nodetype.Sandbox) *fault.Fault {
	set := map[string]string{}
	for name, param := range map[string][2]string{
		"model": {"model", in.Model}, "profile": {"profile", in.Profile}, "sandbox_mode": {"sandbox", sandbox.Mode},
		"approval_policy": {"approval_policy", in.ApprovalPolicy}, "developer_instructions": {"system_prompt", in.SystemPrompt},
	} {
		if param[1] != "" {
			set[name] = param[0]
		}
	}
	for _, name := range slices.Sorted(maps.Keys(in.Config)) {
		var f *fault.Fault
		switch {
		case name == "" || strings.ContainsFunc(name, func(r rune) bool { return r == '=' || unicode.IsControl(r) }):
			f = fault.New(fault.Usage, "config has a name that codex cannot read: %q", fault.Truncate(name, 80)).Suggest("Write a dotted name such as model_providers.mine.base_url")
		case set[name] != "":
			f = fault.New(fault.Usage, "config sets %q, and so does the parameter %s", name, set[name]).Suggest("Keep one of them")
		default:
			if _, err := toml(in.Config[name]); err == nil {
				continue
			}
			f = fault.New(fault.Usage, "config gives %q a value that is null or contains null, which the configuration of codex cannot have", name).
				Suggest("Leave the value out")
		}
		f.Path = "params.config"
		return f
	}
	return nil
}

// toml returns a JSON value as a TOML value (toml.io/en/v1.0.0), on one line.
func toml(raw json.RawMessage) (string, error) {
	value := gjson.ParseBytes(raw)
	var parts []string
	var err error
	add := func(key string, member gjson.Result) bool {
		var text string
		text, err = toml(json.RawMessage(member.Raw))
		parts = append(parts, key+text)
		return err == nil
	}
	switch {
	case value.Type == gjson.Null:
		return "", fault.New(fault.Usage, "null is no value of TOML")
	case value.Type == gjson.String:
		return strings.ReplaceAll(string(rawjson.Quote(value.Str)), "\x7f", `\u007f`), nil // JSON need not escape it
	case value.IsArray():
		value.ForEach(func(_, item gjson.Result) bool { return add("", item) })
		return "[" + strings.Join(parts, ", ") + "]", err
	case value.IsObject():
		value.ForEach(func(key, member gjson.Result) bool { return add(string(rawjson.Quote(key.Str))+" = ", member) })
		return "{" + strings.Join(parts, ", ") + "}", err
	}
	return strings.TrimSpace(value.Raw), nil
}

// useKeys withholds the API keys from the agent, or checks that there is one, as the parameter use_api_key says.
func (j *job) useKeys() *fault.Fault {
	use := j.in.UseAPIKey
	if use == nil {
		return nil
	}
	keys := j.backend.keys()
	given := slices.ContainsFunc(keys, func(name string) bool { return process.Getenv(j.env, name) != "" })
	own := slices.IndexFunc(keys, func(name string) bool { return j.in.Env[name] != "" })
	var f *fault.Fault
	switch {
	case *use && !given:
		f = fault.New(fault.Unavailable, "use_api_key is true, but there is no API key for %s", j.in.Backend).
			Suggest("Set %s in the environment or in the parameter env", strings.Join(keys, " or "))
	case !*use && own >= 0:
		f = fault.New(fault.Usage, "use_api_key is false, but env sets %s", keys[own]).Suggest("Keep one of them")
	case !*use:
		j.env = process.Environment(j.env, keys...)
	}
	if f != nil {
		f.Path = "params.use_api_key"
	}
	return f
}
