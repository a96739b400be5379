package mcpclient

import (
	"slices"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/fault"
)

func TestSpelling(t *testing.T) {
	s := connect(t, "sdk")
	tools, err := s.Tools(t.Context())
	if err != nil || len(tools) == 0 {
		t.Fatal(tools, err)
	}
	for _, tool := range tools {
		for _, name := range []string{tool.Name, strings.ToUpper(tool.Name)} {
			if got, err := s.FindTool(t.Context(), name); err != nil || got.Name != tool.Name {
				t.Errorf("%s: %s %v", name, got.Name, err)
			}
		}
	}
	_, err = s.FindTool(t.Context(), "none")
	if f := fault.From(err); f == nil || f.Type != fault.NotFound || !slices.Contains(f.Available, tools[0].Name) {
		t.Errorf("%+v", f)
	}
}
