package suitetools

import (
	"context"
	"encoding/json"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
	"github.com/pflow-suite/pflow/pkg/mcp/offer"
	"github.com/pflow-suite/pflow/pkg/mcp/source"
	"github.com/pflow-suite/pflow/pkg/mcp/suitetools/suite"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

const workflowsInstructions = `Saved workflows are tools, by their names.`

// workflows returns the tools of the toolset besides those of the workflows.
func workflows(f *Front) []mcpserver.Tool {
	return []mcpserver.Tool{{
		Name: "refresh_workflows", Title: "Refresh the workflows",
		Description:  "Look for workflows that were added, changed or removed, also in the sources, and update the list of tools. That happens by itself; this tool waits for it.",
		InputSchema:  json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`),
		OutputSchema: suite.AnswerSchema(`"added":` + names + `,"updated":` + names + `,"removed":` + names + `,"unchanged":{"type":"integer"},"failed":{"type":"array","items":` + suite.FaultSchema + `}`),
		ReadOnly:     true, Idempotent: true,
		Call: func(ctx context.Context, _ *mcpserver.Call) *mcpserver.Result {
			changes, err := f.Workflows.RefreshAll(ctx)
			if err != nil {
				return suite.Failure(fault.From(err))
			}
			document, err := rawjson.Marshal(changes)
			if err != nil {
				return suite.Failure(fault.From(err))
			}
			return &mcpserver.Result{Structured: document}
		},
	}}
}

const names = `{"type":"array","items":{"type":"string"}}`

// configName is the file of offer.Config in the home.
const configName = source.ConfigName

// manyTools is the number of workflows from which on clients cannot show all of them.
const manyTools = 50

// Workflows keeps the tools of the saved workflows, and of those of the sources, in the table of a server. NewWorkflows makes one.
type Workflows struct {
	Front *Front
	// Include replaces the patterns that serve.json includes, unless it is empty.
	Include []string

	mu      sync.Mutex
	server  *mcpserver.Server
	serving context.Context // how long the server serves
	sources *sources
	config  *offer.Config       // the last good one
	library []offer.Listing     // likewise
	offered map[string]offering // what is served, by the names of the tools
	warned  map[string]bool     // the messages of what the last refresh has left out
	many    sync.Once           // warns of many tools
}

// offering is the tool of a workflow, and what it was made from.
type offering struct {
	tool    mcpserver.Tool
	listing string
}

// Changes are what a refresh has found.
type Changes struct {
	Added     []string       `json:"added"`
	Updated   []string       `json:"updated"`
	Removed   []string       `json:"removed"`
	Unchanged int            `json:"unchanged"`
	Failed    []*fault.Fault `json:"failed"`
}

// NewWorkflows returns the tools of the workflows for a front.
func NewWorkflows(f *Front, include []string) *Workflows {
	return &Workflows{Front: f, Include: include, sources: newSources(f.Suite)}
}

// startPatience is how long the server waits for its sources before it serves. A source that takes longer is added when it has answered.
const startPatience = 3 * time.Second

// Serve adds the tools of the workflows to the table of a server. If they cannot be read, it logs a warning, and the server serves
// its other tools.
func (w *Workflows) Serve(ctx context.Context, server *mcpserver.Server) {
	w.server = server
	w.mu.Lock()
	_ = w.configure() // Refresh reports it
	w.mu.Unlock()
	w.serving = ctx
	patient, end := context.WithTimeout(ctx, startPatience)
	w.sources.begin(ctx, true)(patient)
	end()
	if _, err := w.Refresh(ctx); err != nil {
		w.Front.Suite.Log.Warn("the workflows are not among the tools", "error", err)
	}
}

// RefreshAll lists the sources, and then does what Refresh does.
func (w *Workflows) RefreshAll(ctx context.Context) (*Changes, error) {
	w.mu.Lock()
	_ = w.configure() // Refresh reports it
	w.mu.Unlock()
	w.sources.begin(w.serving, true)(ctx) // others may wait for the same listings, so they outlast this call
	return w.Refresh(ctx)
}

// Refresh reads serve.json and the saved workflows, and changes the table of tools where they, or the lists of the sources, have
// changed. The error is a fault if the saved workflows cannot be read; then their tools stay as they are.
func (w *Workflows) Refresh(ctx context.Context) (*Changes, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	changes := &Changes{Added: []string{}, Updated: []string{}, Removed: []string{}, Failed: []*fault.Fault{}}
	if err := w.configure(); err != nil {
		changes.Failed = append(changes.Failed, fault.From(err))
	}
	saved, skipped, failed := w.list(ctx)
	if failed == nil {
		w.library = saved
	}
	others, left := w.sources.all()
	changes.Failed = append(append(changes.Failed, skipped...), left...)
	if err := w.serve(w.offer(slices.Concat(w.library, others), changes), changes); err != nil {
		return nil, err
	}
	w.warn(changes.Failed)
	if failed != nil {
		return nil, failed
	}
	return changes, nil
}

// warn logs what is left out, unless the last refresh has left it out too.
func (w *Workflows) warn(left []*fault.Fault) {
	warned := map[string]bool{}
	for _, f := range left {
		key := f.Message
		if name, ok := f.Details["source"].(string); ok {
			key = "source " + name // whose message may differ each time
		}
		if warned[key] = true; !w.warned[key] {
			w.Front.Suite.Log.Warn("a workflow, a source or a setting is left out", "error", f)
		}
	}
	w.warned = warned
}

// configure reads serve.json. A broken file keeps the last good one. The mu must be held.
func (w *Workflows) configure() error {
	text, err := w.Front.Suite.Home.Read(configName)
	var config offer.Config
	if err == nil {
		config, err = offer.ParseConfig(text)
	}
	if err != nil {
		if w.config != nil {
			return err
		}
		config, _ = offer.ParseConfig(nil)
	}
	if len(w.Include) > 0 {
		config.Include = w.Include
	}
	w.config = &config
	w.sources.configure(config.Sources)
	return err
}

// list returns the saved workflows.
func (w *Workflows) list(ctx context.Context) ([]offer.Listing, []*fault.Fault, error) {
	o, err := w.Front.Suite.Run(ctx, suite.Command{Program: "pflow-lib", Args: []string{"list", "--tools"}})
	if err != nil {
		return nil, nil, fault.From(err)
	}
	if o.Exit != 0 {
		return nil, nil, fault.New(fault.Unavailable, "pflow-lib list --tools failed (exit status %d): %s", o.Exit, strings.TrimSpace(o.Stderr))
	}
	listings, skipped, err := offer.Parse("", o.Output)
	for line := range strings.Lines(o.Stderr) {
		if warning, ok := strings.CutPrefix(line, "pflow-lib: warning: "); ok {
			skipped = append(skipped, fault.New(fault.Validation, "%s", strings.TrimSpace(warning)))
		}
	}
	return listings, skipped, err
}

// offer returns the tools of the workflows that the configuration offers, by name.
func (w *Workflows) offer(listings []offer.Listing, changes *Changes) map[string]offering {
	listings = slices.DeleteFunc(listings, func(l offer.Listing) bool { return !w.config.Offers(&l) })
	if len(listings) > manyTools && len(w.config.Include) == 0 {
		w.many.Do(func() {
			w.Front.Suite.Log.Warn("there are more tools than most clients can show", "workflows", len(listings),
				"hint", `write {"include": ["tag:tool"]} to serve.json in the home, or use --workflows tag:tool`)
		})
	}
	var taken []string
	for _, t := range toolsets() {
		for _, tool := range t.tools(w.Front) {
			taken = append(taken, tool.Name)
		}
	}
	offered := make(map[string]offering, len(listings))
	for i, name := range offer.Names(listings, taken) {
		if name == "" {
			changes.Failed = append(changes.Failed, fault.New(fault.Conflict, "No name is left for the tool of workflow %s", fault.Truncate(listings[i].Workflow(), maxTitle)))
			continue
		}
		text, err := rawjson.Marshal(listings[i])
		if err != nil {
			changes.Failed = append(changes.Failed, fault.From(err))
			continue
		}
		offered[name] = offering{w.tool(name, &listings[i]), w.config.Wait.String() + string(text)}
	}
	return offered
}

// serve changes the table of tools.
func (w *Workflows) serve(offered map[string]offering, changes *Changes) error {
	var changed []mcpserver.Tool
	for _, name := range slices.Sorted(maps.Keys(offered)) {
		before, served := w.offered[name]
		switch {
		case !served:
			changes.Added = append(changes.Added, name)
		case before.listing != offered[name].listing:
			changes.Updated = append(changes.Updated, name)
		default:
			changes.Unchanged++
			continue
		}
		changed = append(changed, offered[name].tool)
	}
	for name := range w.offered {
		if _, still := offered[name]; !still {
			changes.Removed = append(changes.Removed, name)
		}
	}
	slices.Sort(changes.Removed)
	w.offered = offered
	if len(changed)+len(changes.Removed) == 0 {
		return nil
	}
	defer debug.FreeOSMemory() // making a thousand tools takes more memory than keeping them
	return w.server.ChangeTools(changes.Removed, changed)
}
