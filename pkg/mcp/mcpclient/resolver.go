package mcpclient

import (
	"log/slog"
	"strings"

	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/process"
)

// Resolver makes configured servers ready to connect to: it expands the variables in their entries and registers the
// secret values.
type Resolver struct {
	// Env is the environment of stdio servers. Variables are looked up in Env, then in Settings.
	Env      []string
	Settings map[string]string
	// Mark is Spec.Mark of all servers.
	Mark string
	// Dir is the working directory of stdio servers.
	Dir      string
	Redactor *redact.Redactor
	Log      *slog.Logger
	// Warn shows a warning to the user.
	Warn func(format string, args ...any)
}

// Spec expands a server's entry for Connect. It adds the secrets in the entry to Redactor, as AddSecrets does, and warns of
// variables that are not set.
func (r *Resolver) Spec(name string, server Server) Spec {
	x := r.expand(server)
	log := slog.New(r.Redactor.Handler(r.Log.Handler()))
	for _, variable := range x.Undefined {
		r.Warn("server %s: ${%s} is set neither in the environment nor in the settings and is empty", name, variable)
	}
	return Spec{Name: name, Server: x.Server, Dir: r.Dir, Env: r.Env, Mark: r.Mark, Log: log}
}

// AddSecrets adds the secrets in a server's entry to Redactor: the values of variables in env and headers, all values there under
// the name of a secret or with a credential in them, and the credentials in the arguments and the URL.
func (r *Resolver) AddSecrets(server Server) { r.expand(server) }

func (r *Resolver) expand(server Server) Expanded {
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
	r.AddLiterals(x.Server)
	return x
}

// AddLiterals adds the secrets that are written in a server's entry to Redactor.
func (r *Resolver) AddLiterals(server Server) {
	for _, named := range []map[string]string{server.Env, server.Headers} {
		for key, value := range named {
			if redact.SecretName(key) {
				r.Redactor.Add(key, value)
			} else {
				r.Redactor.AddConnection(key, value)
			}
		}
	}
	r.Redactor.AddCredentials(server.URL)
	// In the arguments: credentials, and the values of flags with secret names.
	args := server.Args
	for i, arg := range args {
		r.Redactor.AddCredentials(arg)
		name, value, assigned := strings.Cut(arg, "=")
		if !strings.HasPrefix(name, "-") || !redact.SecretName(name) {
			continue
		}
		if !assigned && i+1 < len(args) {
			value = args[i+1]
		}
		if value != "" && !strings.HasPrefix(value, "-") {
			r.Redactor.Add(strings.TrimLeft(name, "-"), value)
		}
	}
}
