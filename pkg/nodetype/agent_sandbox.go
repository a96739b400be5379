package nodetype

import (
	"encoding/json"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// Sandbox is the parameter sandbox of an agent: the name of a mode, or an object of settings. Without the parameter both are empty.
type Sandbox struct {
	Mode     string
	Settings json.RawMessage
}

// sandboxModes are the modes, by the names that a workflow may use.
var sandboxModes = map[string]string{
	"read-only": "read-only", "workspace-write": "workspace-write", "full-access": "danger-full-access", "danger-full-access": "danger-full-access",
}

// SandboxOf reads the parameter sandbox. An object is also accepted as the text of its JSON.
func SandboxOf(raw json.RawMessage) (s Sandbox, f *fault.Fault) {
	value := gjson.ParseBytes(raw)
	if text := gjson.Parse(value.Str); value.Type == gjson.String && gjson.Valid(value.Str) && text.IsObject() {
		value = text
	}
	var ok bool
	switch {
	case len(raw) == 0 || value.Type == gjson.Null, value.Type == gjson.String && value.Str == "":
		return s, nil
	case value.IsObject():
		return Sandbox{Settings: json.RawMessage(value.Raw)}, nil
	case value.Type == gjson.String:
		if s.Mode, ok = sandboxModes[value.Str]; ok {
			return s, nil
		}
	}
	f = fault.New(fault.Usage, "sandbox cannot be %s", fault.Truncate(string(raw), 80)).
		Suggest("For codex use read-only, workspace-write or full-access, for claude an object of sandbox settings")
	f.Path = "params.sandbox"
	return s, f
}
