// Package runpage serves the runs of a home as web pages: a list, each run while it goes on, two runs compared, and forms that start
// workflows. Pages are rendered from what single commands of the suite print. Their script calls tools at the MCP endpoint, as any client does,
// and follows runs on a stream of their events.
package runpage

import (
	"bytes"
	"errors"
	"html/template"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/mcphttp"
	"github.com/pflow-suite/pflow/pkg/mcp/suitetools/feed"
	"github.com/pflow-suite/pflow/pkg/mcp/suitetools/suite"
)

// Reach is what the sender of a request may see.
type Reach struct {
	// Token is the name of the sender's token, or "".
	Token string
	// Start, Go and Cancel report that the tools execute, run_resume and run_cancel are served to the sender.
	Start, Go, Cancel bool
	// Flows are the only workflows that it reaches, with their runs; nil is all.
	Flows []string
}

// sees reports whether the sender reaches the runs of a workflow.
func (r *Reach) sees(workflow string) bool {
	return r.Flows == nil || slices.Contains(r.Flows, workflow)
}

// tools returns the tools that the pages may call, separated by spaces.
func (r *Reach) tools() string {
	var names []string
	if r.Go {
		names = append(names, "run_resume")
	}
	if r.Cancel {
		names = append(names, "run_cancel")
	}
	if r.Start {
		names = append(names, "execute")
	}
	return strings.Join(names, " ")
}

// Handler serves the pages. Close must be called.
type Handler struct {
	Programs *suite.Programs
	// Feed brings the events of runs.
	Feed *feed.Feed
	// Reach returns what the sender of a request may see. The error is a *mcphttp.Denied if it may see nothing.
	Reach func(*http.Request) (*Reach, error)
	// SignIn begins a session by a token that reaches the pages, at the server of a request, and SignOut ends that of a request. The error of SignIn is a
	// *mcphttp.Denied if the token is not valid.
	SignIn  func(r *http.Request, token string) (session string, err error)
	SignOut func(*http.Request) error
	// Public is the URL under which clients reach the server, or nil.
	Public *url.URL
	Log    *slog.Logger

	readers chan struct{} // one for each command that may read past events
	closed  chan struct{}
	close   sync.Once
	style   *asset
	script  *asset
	worker  *asset
}

// Mount adds the pages to a mux. It is called once.
func (h *Handler) Mount(mux *http.ServeMux) {
	h.readers, h.closed = make(chan struct{}, maxReaders), make(chan struct{})
	h.style, h.script, h.worker = newAssets()
	h.Feed.HoldAll()
	for pattern, show := range map[string]func(*http.Request, *Reach) (*page, error){
		"GET /{$}":              h.runs,
		"GET /runs/{run}":       h.run,
		"GET /compare":          h.compare,
		"GET /workflows":        h.workflows,
		"GET /workflows/{name}": h.workflow,
	} {
		mux.HandleFunc(pattern, h.page(show))
	}
	mux.HandleFunc("GET /workflows/{name}/graph.svg", h.graph)
	mux.HandleFunc("GET /page.css", h.serve(h.style))
	mux.HandleFunc("GET /page.js", h.serve(h.script))
	mux.HandleFunc("GET /page-stream.js", h.serve(h.worker))
	mux.HandleFunc("GET /page.svg", h.icon)
	mux.HandleFunc("POST /sign-in", h.signIn)
	mux.HandleFunc("POST /sign-out", h.signOut)
	mux.HandleFunc("GET "+eventsPattern, h.events)
}

// Close ends all streams.
func (h *Handler) Close() { h.close.Do(func() { close(h.closed) }) }

// page is what a page shows.
type page struct {
	// Name is the name of the template, and Title what the browser shows.
	Name, Title string
	// Status is the HTTP status; 0 is 200.
	Status int
	// Content is the data of the template.
	Content any
	// Moved is the path of the page to show instead, or "".
	Moved string

	// Root stands before all paths. Reach is nil for a sender that may see nothing.
	Root  string
	Reach *Reach
	// Style and Script are the paths of these files, and Worker that of the script that the tabs of a browser share.
	Style, Script, Worker string
}

// Tools are the tools that the script may call, separated by spaces.
func (p *page) Tools() string {
	if p.Reach == nil {
		return ""
	}
	return p.Reach.tools()
}

// policy allows the pages nothing but their own style, script, pictures and requests.
const policy = "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// protect sets the headers of all that the package serves.
func protect(w http.ResponseWriter) {
	header := w.Header()
	header.Set("Content-Security-Policy", policy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "same-origin") // under no-referrer a browser names no origin when it submits a form
	header.Set("X-Frame-Options", "DENY")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cache-Control", "no-store")
}

// page returns the handler of a page. A sender who may see nothing gets a form for a token, and an error is a page too.
func (h *Handler) page(show func(*http.Request, *Reach) (*page, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		reach, err := h.Reach(r)
		if err != nil {
			h.refuse(w, r, err)
			return
		}
		p, err := show(r, reach)
		if err != nil {
			p = failed(err)
		}
		p.Reach = reach
		h.write(w, r, p)
	}
}

// failure is the content of a page about an error.
type failure struct {
	Message     string
	Suggestions []string
}

// failed returns the page of an error.
func failed(err error) *page {
	f := fault.From(err)
	status := http.StatusInternalServerError
	switch {
	case f.Type == fault.NotFound:
		status = http.StatusNotFound
	case f.ExitStatus() == 2:
		status = http.StatusBadRequest
	}
	return &page{Name: "failure", Title: "Error", Status: status, Content: failure{f.Message, f.Suggestions}}
}

// write sends a page.
func (h *Handler) write(w http.ResponseWriter, r *http.Request, p *page) {
	protect(w)
	p.Root = h.root()
	if p.Moved != "" {
		http.Redirect(w, r, p.Root+p.Moved, http.StatusSeeOther)
		return
	}
	p.Style, p.Script, p.Worker = h.address(r.Context(), h.style), h.address(r.Context(), h.script), h.address(r.Context(), h.worker)
	var out bytes.Buffer
	if err := templates().ExecuteTemplate(&out, "page", p); err != nil {
		h.Log.Error("a page cannot be written", "page", p.Name, "error", err)
		http.Error(w, "The page cannot be shown", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if p.Status != 0 {
		w.WriteHeader(p.Status)
	}
	_, _ = w.Write(out.Bytes()) // that the client is gone needs no report
}

// root is what stands before the paths of links.
func (h *Handler) root() string {
	if h.Public == nil {
		return ""
	}
	return h.Public.EscapedPath()
}

// Body returns the content of the page, by the template of its name.
func (p *page) Body() (template.HTML, error) {
	var out bytes.Buffer
	err := templates().ExecuteTemplate(&out, p.Name, p)
	return template.HTML(out.String()), err //nolint:gosec // it is the output of a template
}

// noRun is the fault for a run that does not exist, or that the sender may not see.
func noRun(run string) error {
	return fault.New(fault.NotFound, "There is no run %q", fault.Truncate(run, maxEcho))
}

// unnamed reports whether a command that was given names has found nothing by them: no such run, or several that begin so.
func unnamed(err error) bool {
	f := fault.From(err)
	return f != nil && f.ExitStatus() == 2
}

// maxEcho is the most bytes of a text of a request that a page repeats.
const maxEcho = 200

// denied returns the error for a sender that may see nothing, or nil for another error.
func denied(err error) *mcphttp.Denied {
	d := &mcphttp.Denied{}
	if errors.As(err, &d) {
		return d
	}
	return nil
}
