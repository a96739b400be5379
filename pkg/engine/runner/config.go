package runner

import (
	"slices"

	"github.com/pflow-suite/pflow/pkg/engine"
	"github.com/pflow-suite/pflow/pkg/engine/cache"
	"github.com/pflow-suite/pflow/pkg/engine/node"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/event/trace"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpclient"
	"github.com/pflow-suite/pflow/pkg/mcp/oauth"
	"github.com/pflow-suite/pflow/pkg/process"
	"github.com/pflow-suite/pflow/pkg/process/chain"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// config returns the launch as the engine takes it, without what depends on the run's journal. run is the id of the run, or
// empty if nothing is executed.
func (l *Launch) config(run string) engine.Config {
	r := l.request
	span := trace.Begin(process.Getenv(l.env, trace.Variable))
	env := l.env
	if span.Parent == "" { // a new trace: the state is about another one
		env = process.Environment(env, trace.State)
	}
	env = append(slices.Clip(env), trace.Variable+"="+span.String()) // servers belong to the run, not to a node
	if run != "" {
		env = append(env, chain.Variable+"="+chain.Text(append(chain.Of(l.host.Env), run)))
	}
	kept := cache.Open(l.host.Home)
	kept.WriteOnly = r.NoCache
	return engine.Config{
		Flow:      l.top,
		Load:      l.load,
		Started:   event.Workflow{Name: r.Name, Path: r.Path, Digest: l.top.Digest, Definition: l.definition, Source: r.source()},
		Workflows: l.subs,
		RunID:     run,
		Inputs:    l.inputs, Given: l.given, Origins: l.origins, Marked: l.marked,
		Redactor: l.redactor,
		Host:     node.Host{Dir: l.dir, Env: env, Suite: l.suite, Servers: mcpclient.NewPool(l.reach(run, env))},
		Span:     span,
		Ask:      l.host.Ask,
		Answer:   r.answer(), Answers: r.Answers, ByPerson: l.settings.ApprovalByPerson,
		Cache: kept,
		Jobs:  r.Jobs, KeepGoing: r.KeepGoing, NoCache: r.NoCache, StopOnFailure: stopsOnFailure(l), Timeout: r.Timeout, Budget: budgetOf(l), Runners: runnersOf(l),
		From: l.from, Only: r.Only, Again: r.recorded(),
		Log: l.host.Log,
	}
}

// addServerSecrets makes the secrets in the configuration of the MCP servers, and those of the logins to them, known before the first node runs, which may print
// what a server is given. A configuration that cannot be read is reported when a node needs it.
func (l *Launch) addServerSecrets() {
	oauth.AddSecrets(l.host.Home, l.redactor)
	servers, err := mcpclient.LoadServers(l.host.Home)
	if err != nil {
		return
	}
	resolver := &mcpclient.Resolver{Env: l.env, Settings: l.settings.Env, Redactor: l.redactor}
	for _, server := range servers {
		resolver.AddSecrets(server)
	}
}

// reach returns how the run's MCP servers are reached. Their configuration is read when the first of them is needed.
func (l *Launch) reach(run string, env []string) func(server string) (mcpclient.Spec, error) {
	resolver := &mcpclient.Resolver{Env: env, Settings: l.settings.Env, Mark: mark(run), Dir: l.dir, Home: l.host.Home, Redactor: l.redactor, Log: l.host.Log, Warn: l.host.Warn}
	return func(name string) (mcpclient.Spec, error) {
		servers, err := mcpclient.LoadServers(l.host.Home)
		if err != nil {
			return mcpclient.Spec{}, err
		}
		server, err := servers.Get(name)
		if err != nil {
			return mcpclient.Spec{}, err
		}
		return resolver.Spec(name, server), nil
	}
}

// stopsOnFailure reports whether a failure stops running nodes: a flag says so, or else the workflow.
func stopsOnFailure(l *Launch) bool {
	r, runtime := l.request, l.top.Workflow.Runtime
	if r.OnFailure == "" && !r.KeepGoing && runtime != nil {
		return runtime.OnFailure == workflow.StopOnFailure
	}
	return r.OnFailure == workflow.StopOnFailure
}
