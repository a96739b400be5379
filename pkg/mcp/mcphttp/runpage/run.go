package runpage

import (
	"html"
	"html/template"
	"net/http"
	"regexp"
	"strconv"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// maxFragment is the most bytes of a run on a page; of a long run less is shown.
const maxFragment = 1 << 20

// runPage is the content of the page of a run.
type runPage struct {
	RunID, Workflow string
	// Fragment is the run.
	Fragment template.HTML
	// Describable reports that the page of the workflow can be shown.
	Describable bool
}

// run is the page of a run. It costs one command.
func (h *Handler) run(r *http.Request, reach *Reach) (*page, error) {
	asked := r.PathValue("run")
	if !isRun(asked) {
		return nil, noRun(asked)
	}
	printed, err := h.Programs.Print(r.Context(), maxFragment+1024, "pflow-exec", "report", "--format=json", "--fragment", "--max-bytes="+strconv.Itoa(maxFragment), "--", asked)
	if unnamed(err) {
		return nil, noRun(asked)
	}
	if err != nil {
		return nil, err
	}
	run, workflow := about(printed)
	if run == "" {
		return nil, fault.New(fault.Protocol, "pflow-exec report printed no run")
	}
	if !reach.sees(workflow) {
		return nil, noRun(asked)
	}
	if run != asked {
		return &page{Moved: "/runs/" + run}, nil
	}
	return &page{Name: "run", Title: workflow + " " + run, Content: runPage{
		RunID: run, Workflow: workflow, Describable: reach.Start,
		Fragment: template.HTML(printed), //nolint:gosec // pflow-exec has escaped all text
	}}, nil
}

// about returns the run and the workflow of a fragment, which its first element names.
func about(fragment []byte) (run, workflow string) {
	parts := regexp.MustCompile(`^<article class="run" data-run="([^"<>]*)" data-workflow="([^"<>]*)"`).FindSubmatch(fragment)
	if parts == nil {
		return "", ""
	}
	return html.UnescapeString(string(parts[1])), html.UnescapeString(string(parts[2]))
}

// isRun reports whether a text may name a run.
func isRun(text string) bool { return regexp.MustCompile(`^(last|r[0-9a-z]{0,64})$`).MatchString(text) }
