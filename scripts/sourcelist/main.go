// Command sourcelist prints what the command list of a source prints: N workflows whose input schemas are of every dialect, odd ones and
// broken ones, and whose names are of every script. The tests of test/client offer them to clients of others.
//
// Usage: sourcelist SEED N
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"

	"github.com/pflow-suite/pflow/internal/definitions"
	"github.com/pflow-suite/pflow/internal/workflownames"
)

func main() {
	if err := list(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "sourcelist:", err)
		os.Exit(2)
	}
}

func list(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("usage: sourcelist SEED N")
	}
	seed, err := strconv.ParseUint(args[0], 10, 64)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	type workflow struct {
		ID          string          `json:"id"`
		Name        string          `json:"name"`
		Description string          `json:"description"`
		InputSchema json.RawMessage `json:"inputSchema,omitempty"`
	}
	workflows := make([]workflow, n)
	names := workflownames.Make(seed, n)
	for i, d := range definitions.Make(seed, n) {
		var tool struct {
			Description string
			InputSchema json.RawMessage
		}
		if err := json.Unmarshal(d.Tool, &tool); err != nil {
			return err
		}
		workflows[i] = workflow{fmt.Sprintf("w%d", i), names[i], "Made. " + tool.Description, tool.InputSchema}
	}
	return json.NewEncoder(os.Stdout).Encode(workflows)
}
