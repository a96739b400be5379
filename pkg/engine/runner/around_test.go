package runner

import (
	"slices"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/process/chain"
)

// A run inside a run of its own workflow is refused, and one inside too many runs.
func TestRunsAroundARun(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	own, other := p.write("own.json", counted), p.write("other.json", counted)
	inOwn, inOther := p.run(Source{Workflow: own}).Run, p.run(Source{Workflow: other}).Run
	inChanged := p.run(Source{Workflow: p.write("changed.json", asking)}).Run
	changed := p.write("changed.json", counted)
	elsewhere := "r0" + strings.Repeat("1", 25)
	for name, c := range map[string]struct {
		workflow string
		around   []string
		want     string
	}{
		"no run":                    {own, nil, ""},
		"its own":                   {own, []string{inOwn}, "Circular workflows: " + own + " → " + own + " (each runs the next)"},
		"another of the same text":  {own, []string{inOther}, ""},
		"its own before it changed": {changed, []string{inChanged}, ""},
		"its own, farther out": {own, []string{elsewhere, inOwn, inOther, "no-id"},
			"Circular workflows: " + own + " → " + other + " → no-id → " + own + " (each runs the next)"},
		"as many as may be": {own, slices.Repeat([]string{elsewhere}, 16), ""},
		"too many":          {own, slices.Repeat([]string{elsewhere}, 17), `The workflow "` + own + `" would run inside 17 other runs: runs nest at most 16 deep`},
	} {
		host := *p.Host
		host.Env = append(slices.Clone(p.Env), chain.Variable+"="+chain.Text(c.around))
		r, err := Load(&host, Source{Workflow: c.workflow, Inputs: values("n", "7"), DryRun: true}, Options{Dir: p.dir, Jobs: 1})
		p.check(err)
		l, err := Resolve(p.Context(), &host, r)
		got := ""
		if err != nil {
			got = fault.From(err).Message
		} else {
			l.Release()
		}
		if got != c.want {
			t.Errorf("inside %s: the error is %q, want %q", name, got, c.want)
		}
	}
}
