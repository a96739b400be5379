package mcpclient

import (
	"log/slog"
	"net/http"
	"strings"

	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/mcp/oauth"
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
	Dir string
	// Home has the logins to HTTP servers. Without one no server is logged in to.
	Home     *home.Home
	Redactor *redact.Redactor
	Log      *slog.Logger
	// Warn shows a warning to the user.
	Warn func(format string, args ...any)
}

// Spec expands a server's entry for Connect. It adds the secrets in the entry to Redactor, as AddSecrets does, and warns of
// variables that are not set.
func (r *Resolver) Spec(name string, server Server) Spec {
	x := r.Expand(server)
	log := slog.New(r.Redactor.Handler(r.Log.Handler()))
	for _, variable := range x.Undefined {
		r.Warn("server %s: ${%s} is set neither in the environment nor in the settings and is empty", name, variable)
	}
	spec := Spec{Name: name, Server: x.Server, Dir: r.Dir, Env: r.Env, Mark: r.Mark, Log: log}
	if r.Home != nil && x.TakesLogin() {
		spec.Login = oauth.NewSource(r.Home, name, x.URL, r.Redactor, log)
	}
	return spec
}

// TakesLogin reports whether requests to the server carry the token of a login: it is an HTTP server, and no token stands in its
// headers.
func (x Expanded) TakesLogin() bool {
	for name := range x.Headers {
		if http.CanonicalHeaderKey(name) == "Authorization" {
			return false
		}
	}
	return x.Transport() == HTTP
}

// AddSecrets adds the secrets in a server's entry to Redactor: the values of variables in env and headers, all values there under
// the name of a secret or with a credential in them, and the credentials in the arguments and the URL.
func (r *Resolver) AddSecrets(server Server) { r.Expand(server) }

// Expand expands a server's entry as Spec does, without warnings.
func (r *Resolver) Expand(server Server) Expanded {
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
			switch {
			case redact.SecretName(key), redact.EntryName(key) && len(value) >= 6: // not a flag such as AUTH=true
				r.Redactor.Add(key, value)
			default:
				r.Redactor.AddConnection(key, value)
			}
			if strings.HasPrefix(strings.TrimSpace(value), "{") { // such as {"Authorization":"Bearer …"}
				r.Redactor.AddCommand([]string{value})
			}
		}
	}
	r.Redactor.AddURL(server.URL)
	for _, arg := range server.Args {
		r.Redactor.AddCredentials(arg)
	}
	r.Redactor.AddCommand(append([]string{server.Command}, server.Args...))
}

// Shown returns a copy of an entry as it may be printed: the values of env and headers as redact.Literal returns them, the command
// and its arguments as redact.Command, and the URL as redact.URL.
func (s Server) Shown() Server {
	words := redact.Command(append([]string{s.Command}, s.Args...))
	s.Command, s.Args, s.URL = words[0], words[1:], redact.URL(s.URL)
	s.Env, s.Headers = shownValues(s.Env), shownValues(s.Headers)
	return s
}

func shownValues(values map[string]string) map[string]string {
	shown := make(map[string]string, len(values))
	for name, value := range values {
		shown[name] = redact.Literal(value)
	}
	return shown
}
