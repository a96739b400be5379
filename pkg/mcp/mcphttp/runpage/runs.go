package runpage

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
)

const (
	// runsOnPage is the number of runs that a page of the list shows.
	runsOnPage = 50
	// maxList is the most bytes of a list.
	maxList = 4 << 20
)

// runList is the content of the list of runs.
type runList struct {
	Workflow, Status, Text string
	// Cursor is the run after which the page begins, or "".
	Cursor   string
	Statuses []status
	// Flows are the only workflows of a limited sender; then one of them is chosen.
	Flows []string
	Runs  []runRow
	// Older is the address of the next page, or "".
	Older string
}

// Filtered reports whether the list may leave runs out.
func (l runList) Filtered() bool { return l.Workflow != "" || l.Status != "" || l.Text != "" }

// runRow is a line of the list.
type runRow struct {
	RunID      string    `json:"run_id"`
	Workflow   string    `json:"workflow"`
	StatusName string    `json:"status"`
	StartedAt  time.Time `json:"started_at"`
	DurationMS float64   `json:"duration_ms"`
}

// Status returns the status as people read it.
func (r runRow) Status() status { return statusOf(r.StatusName) }

// Took returns how long the run took, or "" if it has not ended.
func (r runRow) Took() string {
	if r.DurationMS <= 0 {
		return ""
	}
	return took(time.Duration(r.DurationMS * float64(time.Millisecond)))
}

// took writes a duration in the unit that fits.
func took(d time.Duration) string {
	switch {
	case d < time.Second:
		return strconv.FormatInt(d.Milliseconds(), 10) + " ms"
	case d < 10*time.Second:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
	}
	text := d.Round(time.Second).String()
	if whole, ok := strings.CutSuffix(text, "m0s"); ok {
		return whole + "m"
	}
	return text
}

// Started returns when the run began, for people and for programs.
func (r runRow) Started() string { return r.StartedAt.UTC().Format("2006-01-02 15:04:05") }

// StartedRFC returns when the run began in the form of RFC 3339.
func (r runRow) StartedRFC() string { return r.StartedAt.UTC().Format(time.RFC3339) }

// status is a status of a run as people read it. Its class has the colours of the report.
type status struct{ Name, Class, Sign, Word string }

var statuses = []status{
	{"running", "running", "▸", "Running"},
	{"queued", "pending", "○", "Queued"},
	{"paused", "waiting", "?", "Paused"},
	{"failed", "failed", "✗", "Failed"},
	{"timed_out", "failed", "✗", "Timed out"},
	{"interrupted", "stopped", "▪", "Interrupted"},
	{"degraded", "degraded", "!", "Degraded"},
	{"completed", "completed", "✓", "Completed"},
	{"cancelled", "cancelled", "⊘", "Cancelled"},
	{"denied", "cancelled", "⊘", "Denied"},
}

// statusOf returns a status by its name. One of a later version is shown as it is.
func statusOf(name string) status {
	if i := slices.IndexFunc(statuses, func(s status) bool { return s.Name == name }); i >= 0 {
		return statuses[i]
	}
	return status{name, "stopped", "▪", fault.Truncate(name, 60)}
}

// runs is the list of runs. It costs one command.
func (h *Handler) runs(r *http.Request, reach *Reach) (*page, error) {
	query := r.URL.Query()
	l := runList{
		Workflow: query.Get("workflow"), Status: query.Get("status"), Text: strings.TrimSpace(query.Get("text")), Cursor: query.Get("cursor"), Statuses: statuses, Flows: reach.Flows,
	}
	if len(reach.Flows) > 0 && !slices.Contains(reach.Flows, l.Workflow) {
		l.Workflow = reach.Flows[0] // a list is of one workflow or of all
	}
	args := []string{"list", "--format=json", "--page", "--limit=" + strconv.Itoa(runsOnPage)}
	for _, flag := range [][2]string{{"--workflow=", l.Workflow}, {"--status=", l.Status}, {"--text=", l.Text}, {"--cursor=", l.Cursor}} {
		if strings.ContainsRune(flag[1], 0) {
			return nil, fault.New(fault.Usage, "A filter cannot have the character NUL")
		}
		if flag[1] != "" {
			args = append(args, flag[0]+flag[1])
		}
	}
	printed, err := h.Programs.Print(r.Context(), maxList, "pflow-exec", args...)
	if err != nil {
		return nil, err
	}
	var list struct {
		Runs       []runRow `json:"runs"`
		NextCursor string   `json:"next_cursor"`
	}
	if err := json.Unmarshal(printed, &list); err != nil {
		return nil, fault.New(fault.Protocol, "pflow-exec list printed no list of runs")
	}
	l.Runs = list.Runs
	if list.NextCursor != "" {
		l.Older = "/?" + l.address(list.NextCursor).Encode()
	}
	return &page{Name: "runs", Title: "Runs", Content: l}, nil
}

// address returns the query of the page of the list that begins after a run.
func (l runList) address(cursor string) url.Values {
	values := url.Values{"cursor": {cursor}}
	for name, value := range map[string]string{"workflow": l.Workflow, "status": l.Status, "text": l.Text} {
		if value != "" {
			values.Set(name, value)
		}
	}
	return values
}
