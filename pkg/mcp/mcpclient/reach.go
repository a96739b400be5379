package mcpclient

import (
	"log/slog"

	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/process"
)

// Reach is how configured servers are reached from a program: where the variables in their entries come from, and who
// is told which of their values are secrets.
type Reach struct {
	// Env is the environment, of variables and of stdio servers; Settings stands behind it for variables.
	Env      []string
	Settings map[string]string
	// Dir is the working directory of stdio servers.
	Dir      string
	Redactor *redact.Redactor
	Log      *slog.Logger
	// Warn tells people what deserves their attention.
	Warn func(format string, args ...any)
}

// Spec makes a server's entry ready to connect to. What came into its env and headers from variables, or stands there
// under a secret's name, is a secret from here on; a variable that is set nowhere is warned of.
func (r *Reach) Spec(name string, server Server) Spec {
	x := server.Expand(func(name string) (string, bool) {
		if value, ok := process.LookupEnv(r.Env, name); ok {
			return value, true
		}
		value, ok := r.Settings[name]
		return value, ok
	})
	for variable, value := range x.Secrets {
		r.Redactor.Add(variable, value)
	}
	for _, named := range []map[string]string{x.Env, x.Headers} {
		for key, value := range named {
			if redact.SecretName(key) {
				r.Redactor.Add(key, value)
			}
		}
	}
	log := slog.New(r.Redactor.Handler(r.Log.Handler()))
	for _, variable := range x.Undefined {
		r.Warn("server %s: ${%s} is set neither in the environment nor in the settings and is empty", name, variable)
	}
	return Spec{Name: name, Server: x.Server, Dir: r.Dir, Env: r.Env, Log: log}
}
