package runpage

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
)

const (
	// workflowsOnPage is the number of workflows that a page of their list shows.
	workflowsOnPage = 200
	// maxGraph is the most bytes of the picture of a workflow.
	maxGraph = 8 << 20
)

// workflowList is the content of the list of workflows.
type workflowList struct {
	Workflows []workflowRow `json:"workflows"`
	Next      string        `json:"next_cursor"`
	Text      string        `json:"-"`
	// Limited reports that the sender reaches some workflows only.
	Limited bool `json:"-"`
}

// workflowRow is a line of the list.
type workflowRow struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Saved       bool   `json:"saved"`
	Error       *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// errNoStart is the fault for a sender that may start no workflow.
func errNoStart() error {
	return fault.New(fault.NotFound, "Workflows are not served to you: the toolset core has them")
}

// workflows is the list of workflows. It costs one command.
func (h *Handler) workflows(r *http.Request, reach *Reach) (*page, error) {
	if !reach.Start {
		return nil, errNoStart()
	}
	query := r.URL.Query()
	l := workflowList{Text: strings.TrimSpace(query.Get("text")), Limited: reach.Flows != nil}
	if l.Limited {
		for _, name := range reach.Flows {
			l.Workflows = append(l.Workflows, workflowRow{Name: name, Saved: true})
		}
		return &page{Name: "workflows", Title: "Workflows", Content: l}, nil
	}
	args := []string{"list", "--format=json", "--drafts", "--limit=" + strconv.Itoa(workflowsOnPage)}
	if cursor := query.Get("cursor"); cursor != "" {
		args = append(args, "--cursor="+cursor)
	}
	if l.Text != "" {
		args = append(args, "--", l.Text)
	}
	if strings.ContainsRune(strings.Join(args, ""), 0) {
		return nil, fault.New(fault.Usage, "A filter cannot have the character NUL")
	}
	printed, err := h.Programs.Print(r.Context(), maxList, "pflow-lib", args...)
	if err != nil {
		return nil, err
	}
	if json.Unmarshal(printed, &l) != nil {
		return nil, fault.New(fault.Protocol, "pflow-lib list printed no list of workflows")
	}
	return &page{Name: "workflows", Title: "Workflows", Content: l}, nil
}

// workflowPage is the content of the page of a workflow.
type workflowPage struct {
	Name, Description string
	Saved             bool
	Inputs            []inputField
	// Nodes are the nodes as text, and Errors why the workflow cannot run.
	Nodes  []nodeRow
	Errors []string
}

// nodeRow is a node of a workflow.
type nodeRow struct{ ID, Type, Purpose string }

// inputField is a field of the form that starts a workflow.
type inputField struct {
	ID, Name, Description, Type string
	Required, Secret            bool
	// Default is the value of an input that is left out, as text.
	Default string
}

// Note returns what stands beside the name of an input.
func (f inputField) Note() string {
	note := f.Type
	if f.Secret {
		note += ", secret"
	}
	if f.Required {
		note += ", required"
	}
	if f.Default != "" {
		note += ", default " + f.Default
	}
	return note
}

// workflow is the page of a workflow. It costs one command.
func (h *Handler) workflow(r *http.Request, reach *Reach) (*page, error) {
	name, err := h.chosen(r, reach)
	if err != nil {
		return nil, err
	}
	printed, err := h.Programs.Print(r.Context(), maxList, "pflow-lib", "describe", "--format=json", "--limit=500", "--", name)
	if err != nil {
		return nil, err
	}
	v := gjson.GetManyBytes(printed, "name", "description", "saved", "inputs", "nodes", "errors.#.message")
	if v[0].Str != name { // a node type
		return nil, noWorkflow(name)
	}
	w := workflowPage{Name: name, Description: v[1].Str, Saved: v[2].Bool()}
	v[3].ForEach(func(key, in gjson.Result) bool {
		w.Inputs = append(w.Inputs, newField("input-"+strconv.Itoa(len(w.Inputs)), key.Str, in))
		return true
	})
	slices.SortStableFunc(w.Inputs, func(a, b inputField) int {
		return strings.Compare(strconv.FormatBool(b.Required), strconv.FormatBool(a.Required))
	})
	for _, n := range v[4].Array() {
		w.Nodes = append(w.Nodes, nodeRow{n.Get("id").Str, n.Get("type").Str, fault.Truncate(n.Get("purpose").Str, maxShown)})
	}
	for _, message := range v[5].Array() {
		w.Errors = append(w.Errors, fault.Truncate(message.Str, maxShown))
	}
	return &page{Name: "workflow", Title: name, Content: w}, nil
}

// newField returns the field of an input. The default of a secret one is not shown.
func newField(id, name string, in gjson.Result) inputField {
	f := inputField{ID: id, Name: name, Description: in.Get("description").Str, Type: in.Get("type").Str, Required: in.Get("required").Bool(), Secret: in.Get("secret").Bool()}
	if f.Type == "" {
		f.Type = "any"
	}
	if d := in.Get("default"); d.Exists() && !f.Secret {
		f.Default = d.Raw
		if d.Type == gjson.String {
			f.Default = d.Str
		}
		f.Default = fault.Truncate(f.Default, maxEcho)
	}
	return f
}

// chosen returns the name of the workflow that a request is about, if the sender may start it.
func (h *Handler) chosen(r *http.Request, reach *Reach) (string, error) {
	name := r.PathValue("name")
	switch {
	case !reach.Start:
		return "", errNoStart()
	case home.CheckName("workflow", name) != nil || !reach.sees(name):
		return "", noWorkflow(name)
	}
	return name, nil
}

func noWorkflow(name string) error {
	return fault.New(fault.NotFound, "There is no workflow %q", fault.Truncate(name, maxEcho))
}

// graph sends the picture of a workflow. It costs one command.
func (h *Handler) graph(w http.ResponseWriter, r *http.Request) {
	reach, err := h.Reach(r)
	if err != nil {
		h.refuse(w, r, err)
		return
	}
	name, err := h.chosen(r, reach)
	var picture []byte
	if err == nil {
		picture, err = h.Programs.Print(r.Context(), maxGraph, "pflow-lib", "graph", "--name", "--as=svg", "--", name)
	}
	if err != nil {
		p := failed(err)
		p.Reach = reach
		h.write(w, r, p)
		return
	}
	protect(w)
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'") // its rules are in it
	w.Header().Set("Content-Type", "image/svg+xml")
	_, _ = w.Write(picture) // that the client is gone needs no report
}
