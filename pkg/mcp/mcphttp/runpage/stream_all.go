package runpage

import (
	"net/http"
	"slices"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// maxFollowed is the most runs that a stream of all runs follows.
const maxFollowed = 100

// streamAll streams the beginnings and ends of all runs, and what happens to the runs that the query names.
func (h *Handler) streamAll(w http.ResponseWriter, r *http.Request, reach *Reach) {
	followed, err := h.followed(r, reach)
	if err != nil {
		refuseStream(w, err)
		return
	}
	f := h.Feed.AttachAll(followed)
	defer f.Leave()
	out := &stream{w: w, connection: http.NewResponseController(w)}
	out.begin()
	out.flush()
	look, beats := time.NewTimer(lookAgain), time.NewTicker(heartbeat)
	defer look.Stop()
	defer beats.Stop()
	for !out.failed {
		select {
		case <-r.Context().Done():
			return
		case <-h.closed:
			return
		case <-beats.C:
			out.comment("heartbeat")
			look.Reset(0)
		case <-look.C:
			followed = slices.DeleteFunc(followed, func(run string) bool {
				if h.Feed.IsLive(run) {
					return false
				}
				status, workflow, err := h.standing(r.Context(), run)
				if err != nil || status == "running" || status == "queued" {
					return unnamed(err)
				}
				out.change("run_finished", run, workflow, status)
				return true
			})
		case <-f.More():
			lines, lost := f.Take()
			if lost {
				return
			}
			for _, l := range lines {
				if reach.sees(l.Workflow) || slices.Contains(followed, l.Run) {
					out.change(l.Kind, l.Run, l.Workflow, gjson.GetBytes(l.JSON, "status").Str)
				}
				if l.Ends() {
					followed = slices.DeleteFunc(followed, func(run string) bool { return run == l.Run })
				}
			}
		}
		out.flush()
	}
}

// followed returns the runs that the query of a request names and the sender sees. Others are as if they did not exist.
func (h *Handler) followed(r *http.Request, reach *Reach) (runs []string, err error) {
	named := r.URL.Query()["run"]
	if len(named) > maxFollowed {
		return nil, fault.New(fault.Usage, "A stream follows at most %d runs", maxFollowed)
	}
	for _, run := range named {
		if run == "last" || !isRun(run) || slices.Contains(runs, run) {
			continue
		}
		if reach.Flows != nil {
			_, workflow, err := h.standing(r.Context(), run)
			if err != nil && !unnamed(err) {
				return nil, err
			}
			if err != nil || !reach.sees(workflow) {
				continue
			}
		}
		runs = append(runs, run)
	}
	return runs, nil
}

// change sends that something has happened to a run.
func (s *stream) change(kind, run, workflow, status string) {
	text, err := rawjson.Marshal(struct {
		Event    string `json:"event"`
		Run      string `json:"run"`
		Workflow string `json:"workflow,omitempty"`
		Status   string `json:"status,omitempty"`
	}{kind, run, workflow, status})
	if err == nil {
		s.write("data: %s\n\n", text)
	}
}
