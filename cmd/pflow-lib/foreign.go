package main

// instead says what to write here for flags and commands of pflow's Python version. docs/coming-from-pflow.md lists them.
func instead() map[string]string {
	return map[string]string{
		"--json":          "Write --format json",
		"--output-format": "Write --format json, or --format text",
		"--validate-only": "Check a workflow with: pflow-lib check WORKFLOW",
		"--delete-draft":  "Leave it out: save removes the draft",
		"--name":          "Write pflow-lib save DRAFT NAME; for a file that is not a draft: pflow-lib import FILE",
		"discover":        "pflow-lib search WORDS",
		"find":            "pflow-lib search WORDS",
		"history":         "pflow-exec list --workflow NAME",
		"llm":             "pflow-lib settings set llm.default_model MODEL",
		"mcp":             "pflow-sync add, sync, list, tools, remove",
		"mermaid":         "pflow-lib graph WORKFLOW --as mermaid",
		"registry":        "pflow-lib search WORDS, pflow-lib describe NODE_TYPE",
		"run":             "pflow-exec run WORKFLOW",
		"validate":        "pflow-lib check WORKFLOW",
		"workflow":        "pflow-lib list, describe, save",
	}
}
