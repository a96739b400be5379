package veloflux

import (
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/fault"
)

func TestToolsOnOffer(t *testing.T) {
	const all = "catalog.functions catalog.syntax_capabilities functions.describe pipelines.create pipelines.delete pipelines.explain " +
		"pipelines.get pipelines.list pipelines.stats pipelines.verify streams.describe streams.list"
	const reading = "catalog.functions catalog.syntax_capabilities functions.describe pipelines.explain pipelines.get pipelines.list " +
		"pipelines.stats streams.describe streams.list"
	const verifying = "catalog.functions catalog.syntax_capabilities functions.describe pipelines.verify streams.describe streams.list"
	for _, tc := range []struct {
		name string
		o    Options
		want string
	}{
		{"all", Options{}, all},
		{"underscore", Options{ToolNames: NamesUnderscore, Tools: []string{"streams.list", "catalog.syntax_capabilities"}}, "catalog_syntax_capabilities streams_list"},
		{"both", Options{ToolNames: NamesBoth, Tools: []string{"streams_list"}}, "streams.list streams_list"},
		{"read-only", Options{ReadOnly: true}, reading},
		{"read-only wins", Options{ReadOnly: true, Tools: []string{"pipelines.verify", "pipelines.delete", "pipelines.get"}}, "pipelines.get"},
		{"chosen", Options{Tools: []string{" pipelines_verify ", "streams.list", ""}}, "pipelines.verify streams.list"},
		{"verification", Options{Tools: []string{"verification"}}, verifying},
		{"verification and more", Options{Tools: []string{"pipelines.list", "verification", "streams.list"}}, strings.Replace(verifying, "pipelines.verify", "pipelines.list pipelines.verify", 1)},
		{"verification in underscores", Options{ToolNames: NamesUnderscore, Tools: []string{VerificationTools}}, strings.ReplaceAll(verifying, ".", "_")},
		{"verification that only reads", Options{ReadOnly: true, Tools: []string{VerificationTools}}, strings.Replace(verifying, "pipelines.verify ", "", 1)},
		{"without verification", Options{ExcludeTools: []string{VerificationTools}}, "pipelines.create pipelines.delete pipelines.explain pipelines.get pipelines.list pipelines.stats"},
		{"left out wins", Options{Tools: []string{"streams.list", "pipelines.get"}, ExcludeTools: []string{"streams_list"}}, "pipelines.get"},
		{"left out", Options{ReadOnly: true, ExcludeTools: strings.Fields(reading)}, ""},
	} {
		tools, err := Tools(tc.o)
		var names []string
		for _, tool := range tools {
			names = append(names, tool.Name)
		}
		if got := strings.Join(names, " "); got != tc.want || err != nil {
			t.Errorf("%s: %s %v", tc.name, got, err)
		}
	}
}

func TestOptionsThatAreNone(t *testing.T) {
	for name, tc := range map[string]struct {
		o    Options
		want string
	}{
		"style":   {Options{ToolNames: "camel"}, `"camel"`},
		"tool":    {Options{Tools: []string{"streams_lst"}}, `There is no tool "streams_lst"`},
		"exclude": {Options{ExcludeTools: []string{"x"}}, `There is no tool "x"`},
	} {
		_, err := Tools(tc.o)
		f := fault.From(err)
		if err == nil || f.Type != fault.Usage || !strings.Contains(f.Message, tc.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Tools(Options{Tools: []string{"streams_lst"}}); !strings.Contains(strings.Join(fault.From(err).Suggestions, " "), `Did you mean "streams.list"?`) {
		t.Errorf("no suggestion: %v", fault.From(err).Suggestions)
	}
}

// TestNamesThatClientsTake asserts that clients with a narrow pattern accept the names.
func TestNamesThatClientsTake(t *testing.T) {
	tools, err := Tools(Options{ToolNames: NamesUnderscore})
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools {
		for _, other := range allTools() {
			if text := tool.Description + string(tool.InputSchema) + tool.ifTooLarge; strings.Contains(text, other.dotted) {
				t.Errorf("%s speaks of %s, which no client of these names can call: %s", tool.Name, other.dotted, text)
			}
		}
		if strings.Trim(tool.Name, "abcdefghijklmnopqrstuvwxyz_") != "" || len(tool.Name) > 64 {
			t.Errorf("%q", tool.Name)
		}
	}
}
