package yaml_test

import (
	"fmt"

	"github.com/pflow-suite/pflow/pkg/workflow/yaml"
)

func ExampleParse() {
	text := "retry: 3\nsteps: [build, 007]\nsteps: yes\n"
	n, errors := yaml.Parse(text, 0, len(text), 0)
	raw, _ := n.AppendJSON(nil)
	fmt.Println(string(raw))
	for _, e := range errors {
		fmt.Printf("byte %d: %s\n", e.At, e.Message)
	}
	// Output:
	// {"retry":3,"steps":["build","007"]}
	// byte 29: the key "steps" is a duplicate: line 2 has it too
}
