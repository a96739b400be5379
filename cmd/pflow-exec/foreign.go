package main

// instead says what to write here for flags and commands of pflow's Python version. docs/coming-from-pflow.md lists them.
func instead() map[string]string {
	return map[string]string{
		"-o":              "Write --print OUTPUT to print one output",
		"--output-key":    "Write --print OUTPUT to print one output",
		"--output-format": "Write --format json, or --format text",
		"--validate-only": "Check a workflow with: pflow-lib check WORKFLOW",
		"-p":              "Write --print OUTPUT to print one output, or --quiet",
		"-v":              "Write --log-level debug",
		"--verbose":       "Write --log-level debug",
		"--no-trace":      "Every run is recorded; pflow-exec gc removes old runs",
		"--report":        "After the run: pflow-exec report RUN",
		"--report-dir":    "After the run: pflow-exec report RUN > FILE",
		"--cache":         `Write "cache": true at the nodes to cache`,
		"--choose":        "Write --approve ANSWER",
		"--force":         "To go on with a changed workflow: pflow-exec run WORKFLOW --resume RUN",
		"--json":          "Write --format json",

		"FILE":        "pflow-exec run FILE KEY=VALUE…",
		"describe":    "pflow-lib describe NAME",
		"find":        "pflow-lib search WORDS",
		"guide":       "pflow-lib guide",
		"history":     "pflow-exec list --workflow NAME",
		"mcp":         "pflow-sync add, sync, list, tools, remove",
		"mermaid":     "pflow-lib graph WORKFLOW --as mermaid",
		"probe":       "pflow-exec node TYPE KEY=VALUE…",
		"read-fields": "pflow-exec show RUN --field PATH",
		"registry":    "pflow-lib search WORDS, pflow-lib describe NODE_TYPE",
		"save":        "pflow-lib save DRAFT NAME, or pflow-lib import FILE",
		"settings":    "pflow-lib settings",
		"validate":    "pflow-lib check WORKFLOW",
		"workflow":    "pflow-lib list, describe, save",
	}
}
