package settings

import (
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/fault"
)

func TestLimitsAndRunners(t *testing.T) {
	got, err := load(t, `{"runtime":{"max_runs":3},"runners":{"gpu":"ssh gpu1 pflow-exec node"}}`)
	if err != nil || got.MaxRuns != 3 || !maps.Equal(got.Runners, map[string]string{"gpu": "ssh gpu1 pflow-exec node"}) {
		t.Errorf("%+v %v", got, err)
	}
	if all := WithLocal(got.Runners); len(all) != 2 || all["gpu"] == "" {
		t.Errorf("with this machine: %v", all)
	}
	for text, path := range map[string]string{
		`{"runtime":{"max_runs":0}}`:        "runtime.max_runs",
		`{"runtime":{"max_runs":-1}}`:       "runtime.max_runs",
		`{"runtime":{"max_runs":1.5}}`:      "runtime.max_runs",
		`{"runtime":{"max_runs":"3"}}`:      "runtime.max_runs",
		`{"runners":{"local":"x"}}`:         "runners.local",
		`{"runners":{"GPU":"x"}}`:           "runners.GPU",
		`{"runners":{"gpu":" "}}`:           "runners.gpu",
		`{"runners":{"gpu":["ssh","gpu"]}}`: "runners.gpu",
	} {
		_, err := load(t, text)
		if f := fault.From(err); f == nil || f.Type != fault.Validation || f.Path != path {
			t.Errorf("%s: got %+v", text, f)
		}
	}
}

func TestRunnersAreSettings(t *testing.T) {
	path, key, err := KeyPath("runners.gpu")
	if err != nil || len(path) != 2 || path[1] != "gpu" || key.JSON {
		t.Errorf("%v %+v %v", path, key, err)
	}
	for _, name := range []string{"runners.local", "runners.", "runners.A", "runners"} {
		_, _, err := KeyPath(name)
		if f, ok := errors.AsType[*fault.Fault](err); !ok || f.Type != fault.Usage || strings.Contains(name, ".") == (f.Available != nil) {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, key, _ = KeyPath("runtime.max_runs")
	for text, ok := range map[string]bool{"3": true, "0": false, "-1": false, "1.5": false, "null": false, `"3"`: false} {
		if _, err := key.Value(text); (err == nil) != ok {
			t.Errorf("runtime.max_runs %s: %v", text, err)
		}
	}
}
