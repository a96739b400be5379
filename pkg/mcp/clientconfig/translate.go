package clientconfig

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpclient"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// definition is the entry of a server, with the keys of all clients.
type definition struct {
	Type      string           `json:"type"`
	Transport string           `json:"transport"`
	Command   string           `json:"command"`
	Args      []string         `json:"args"`
	Env       map[string]*text `json:"env"`
	Cwd       string           `json:"cwd"`
	EnvFile   string           `json:"envFile"`
	URL       string           `json:"url"`
	Headers   map[string]text  `json:"headers"`
	// Timeout is in milliseconds.
	Timeout  float64 `json:"timeout"`
	Disabled bool    `json:"disabled"`

	// Of Gemini.
	HTTPURL          string   `json:"httpUrl"`
	AuthProviderType string   `json:"authProviderType"`
	IncludeTools     []string `json:"includeTools"`
	ExcludeTools     []string `json:"excludeTools"`

	// Of Claude Code: a command that prints headers.
	HeadersHelper string `json:"headersHelper"`

	// Of Codex.
	Enabled           *bool           `json:"enabled"`
	EnvVars           []environment   `json:"env_vars"`
	HTTPHeaders       map[string]text `json:"http_headers"`
	EnvHTTPHeaders    map[string]text `json:"env_http_headers"`
	BearerTokenEnvVar string          `json:"bearer_token_env_var"`
	StartupTimeoutSec float64         `json:"startup_timeout_sec"`
	ToolTimeoutSec    float64         `json:"tool_timeout_sec"`
	EnabledTools      []string        `json:"enabled_tools"`
	DisabledTools     []string        `json:"disabled_tools"`

	// OAuth and Auth are how a client logs in, Sandbox how it confines the server.
	OAuth   json.RawMessage `json:"oauth"`
	Auth    json.RawMessage `json:"auth"`
	Sandbox json.RawMessage `json:"sandboxEnabled"`
}

// text is a text, or a number or a truth value, which stands for its spelling.
type text string

// UnmarshalJSON reads a text or a value that is not a list or an object.
func (t *text) UnmarshalJSON(raw []byte) error {
	if raw[0] == '"' || raw[0] == '{' || raw[0] == '[' {
		return json.Unmarshal(raw, (*string)(t))
	}
	*t = text(raw)
	return nil
}

// environment is a variable that Codex passes on to the server: its name, or an object with the name and where it comes from.
type environment struct{ Name, Source string }

// UnmarshalJSON reads either form.
func (e *environment) UnmarshalJSON(raw []byte) error {
	if raw[0] == '"' {
		return json.Unmarshal(raw, &e.Name)
	}
	type plain environment
	return json.Unmarshal(raw, (*plain)(e))
}

// translation is the translation of one entry.
type translation struct {
	file
	inputs []question
	entry  Entry
}

// translate returns the entry of a client as one of this suite.
func (t *translation) translate(raw json.RawMessage) Entry {
	var d definition
	err := json.Unmarshal(raw, &d)
	if path, must, ok := rawjson.Mistyped(raw, err); ok {
		what := "it"
		if path = strings.TrimPrefix(path, "."); path != "" {
			what = "its " + path
		}
		t.fail("%s must be %s", what, must)
	} else if err != nil || string(raw) == "null" {
		t.fail("it is not an object of texts")
	}
	if t.entry.Fault == nil {
		t.server(d)
	}
	if t.entry.Fault == nil {
		t.entry.Fault = fault.From(t.entry.Server.Check(t.entry.Name))
		t.entry.Server.Type = t.entry.Server.Transport()
	}
	if t.entry.Fault != nil {
		t.entry.Differs, t.entry.Fault.Path, t.entry.Fault.File = nil, "", t.path
	}
	return t.entry
}

// fail says why the entry cannot be taken over, unless that is said already.
func (t *translation) fail(format string, args ...any) {
	if t.entry.Fault == nil {
		t.entry.Fault = fault.New(fault.Validation, "Server %s cannot be taken over: "+format, append([]any{t.entry.Name}, args...)...)
	}
}

// differs adds a text once.
func (t *translation) differs(text string) {
	if !slices.Contains(t.entry.Differs, text) {
		t.entry.Differs = append(t.entry.Differs, text)
	}
}

// server translates an entry. It may fail.
func (t *translation) server(d definition) {
	s := mcpclient.Server{
		Type: d.Type, Command: t.text("command", d.Command), URL: t.text("url", d.URL), Timeout: t.seconds(d),
		Disabled: d.Disabled || d.Enabled != nil && !*d.Enabled,
	}
	if d.Command != "" && (d.URL != "" || d.HTTPURL != "") {
		t.fail("it has both a command and a URL")
	}
	if strings.ContainsRune(d.Command+strings.Join(d.Args, ""), 0) {
		t.fail("its command has a NUL character")
	}
	for name, value := range d.Env {
		if name == "" || strings.ContainsAny(name, "=\x00") || value != nil && strings.ContainsRune(string(*value), 0) {
			t.fail("its env has a name that is empty or has a =, or a NUL character")
		}
	}
	if s.Type == "" {
		s.Type = d.Transport
	}
	for _, arg := range d.Args {
		s.Args = append(s.Args, t.text("args", arg))
	}
	if d.HTTPURL != "" {
		s.URL, s.Type = t.text("httpUrl", d.HTTPURL), mcpclient.HTTP
	}
	if s.Command == "" || s.Transport() == mcpclient.HTTP {
		s.Headers = t.headers(d)
	} else {
		s.Env, s.Cwd = t.environment(d), t.folder(d.Cwd)
	}
	t.remarks(d)
	t.entry.Server = s
}

// seconds returns the time limit of an entry, 0 if it has none.
func (t *translation) seconds(d definition) float64 {
	switch t.client {
	case codex:
		return max(d.StartupTimeoutSec, d.ToolTimeoutSec)
	case claudeCode, gemini:
		return d.Timeout / 1000
	}
	if d.Timeout != 0 {
		t.differs("timeout is not taken over")
	}
	return 0
}

func (t *translation) headers(d definition) map[string]string {
	headers := map[string]string{}
	for _, named := range []map[string]text{d.Headers, d.HTTPHeaders} {
		for name, value := range named {
			headers[name] = t.text("headers."+name, string(value))
		}
	}
	for name, variable := range d.EnvHTTPHeaders {
		headers[name] = t.variable("env_http_headers."+name, string(variable))
	}
	if d.BearerTokenEnvVar != "" {
		headers["Authorization"] = "Bearer " + t.variable("bearer_token_env_var", d.BearerTokenEnvVar)
	}
	if len(headers) == 0 {
		return nil
	}
	return headers
}

// environment returns the variables of a server. Those of the entry override those of its file.
func (t *translation) environment(d definition) map[string]string {
	env := map[string]string{}
	if d.EnvFile != "" {
		maps.Copy(env, t.variablesFile(t.text("envFile", d.EnvFile)))
	}
	for _, v := range d.EnvVars {
		if v.Source != "" && v.Source != "local" {
			t.fail("env_vars takes %s from %s", v.Name, v.Source)
		}
		env[v.Name] = t.variable("env_vars", v.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(d.Env)) {
		if value := d.Env[name]; value != nil {
			env[name] = t.text("env."+name, string(*value))
		} else {
			t.differs("the variable " + name + " is not removed from the server's environment")
		}
	}
	if len(env) == 0 {
		return nil
	}
	return env
}

// folder returns the folder in which a server is started: its own, or that of its project.
func (t *translation) folder(own string) string {
	own = t.text("cwd", own)
	if t.project == "" {
		return own
	}
	if filepath.IsAbs(own) || strings.HasPrefix(own, "${") {
		return own
	}
	return filepath.Join(t.literal("the folder of the project", t.project), own)
}

// variable returns a reference to a variable of the environment.
func (t *translation) variable(place, name string) string {
	reference := "${" + name + "}"
	if !refers(reference) {
		t.fail("%s is not the name of a variable", place)
	}
	return reference
}

// remarks says what has no counterpart.
func (t *translation) remarks(d definition) {
	if d.HeadersHelper != "" {
		t.fail("headersHelper is a command that prints headers, which has no counterpart")
	}
	if kind := d.AuthProviderType; kind != "" && kind != "dynamic_discovery" {
		t.fail("authProviderType has no counterpart")
	}
	filters := map[string][]string{
		"includeTools": d.IncludeTools, "excludeTools": d.ExcludeTools, "enabled_tools": d.EnabledTools, "disabled_tools": d.DisabledTools,
	}
	for _, key := range slices.Sorted(maps.Keys(filters)) {
		if len(filters[key]) > 0 {
			t.differs(key + " is not taken over: all tools of the server become node types, unless pflow-lib settings deny them")
		}
	}
	if d.OAuth != nil || d.Auth != nil {
		t.differs("the login of the client is not taken over: pflow-sync login logs in")
	}
	if string(d.Sandbox) == "true" {
		t.differs("the server is not confined to a sandbox")
	}
}
