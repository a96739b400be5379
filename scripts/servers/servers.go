package main

// The registries of packages.
const (
	npm  = "npm"
	pypi = "pypi"
)

// server is an MCP server in a registry of packages, and how it is tried.
type server struct {
	Name string
	// Registry, Package and Version are where it comes from. Besides are further requirements of a Python package.
	Registry, Package, Version string
	Besides                    []string
	// Program is the name of its program. DATA in Args, Env, Prepare and in arguments stands for a folder.
	Program string
	Args    []string
	Env     map[string]string
	// Files are put into the folder before, and Prepare is a command that is run then.
	Files   map[string]string
	Prepare []string
	// Needs is what it says if it is started without Env, or empty.
	Needs string
	Calls []call
}

// call is a call of a tool by a node of the workflow. The nodes run one after the other, with one process of the server.
type call struct {
	Tool, Arguments string
	// Wants is a regular expression for the node's last event. Fails is one too, for a call that fails with the server's own words.
	Wants, Fails string
}

// servers is the table of all servers.
func servers() []server { return append(npmServers(), pypiServers()...) }

func npmServers() []server {
	const no = `fetch failed|ENOTFOUND|EAI_AGAIN|ECONN|Unauthorized|401|403|Bad credentials|invalid|Invalid|denied` // without a network, or without a valid key
	return []server{
		{
			Name: "everything", Registry: npm, Package: "@modelcontextprotocol/server-everything", Version: "2026.8.31", Program: "mcp-server-everything",
			Calls: []call{{Tool: "echo", Arguments: `{"message":"hällo"}`, Wants: "hällo"}, {Tool: "get-sum", Arguments: `{"a":2,"b":40}`, Wants: "42"}, {Tool: "get-structured-content", Arguments: `{"location":"Chicago"}`, Wants: `"temperature":`}, {Tool: "get-tiny-image", Arguments: `{}`, Wants: `image/png`}},
		},
		{
			Name: "filesystem", Registry: npm, Package: "@modelcontextprotocol/server-filesystem", Version: "2026.8.31", Program: "mcp-server-filesystem", Args: []string{"DATA"},
			Calls: []call{{Tool: "write_file", Arguments: `{"path":"DATA/note.txt","content":"kept here"}`, Wants: "note.txt"}, {Tool: "read_text_file", Arguments: `{"path":"DATA/note.txt"}`, Wants: "kept here"}, {Tool: "list_directory", Arguments: `{"path":"DATA"}`, Wants: "note.txt"}},
		},
		{
			Name: "memory", Registry: npm, Package: "@modelcontextprotocol/server-memory", Version: "2026.8.31", Program: "mcp-server-memory", Env: map[string]string{"MEMORY_FILE_PATH": "DATA/memory.jsonl"},
			Calls: []call{{Tool: "create_entities", Arguments: `{"entities":[{"name":"pflow","entityType":"suite","observations":["runs workflows"]}]}`, Wants: "pflow"}, {Tool: "add_observations", Arguments: `{"observations":[{"entityName":"pflow","contents":["keeps state"]}]}`, Wants: "keeps state"}, {Tool: "read_graph", Arguments: `{}`, Wants: "runs workflows.*keeps state"}},
		},
		{
			Name: "sequential thinking", Registry: npm, Package: "@modelcontextprotocol/server-sequential-thinking", Version: "2026.8.31", Program: "mcp-server-sequential-thinking",
			Calls: []call{{Tool: "sequentialthinking", Arguments: `{"thought":"one","thoughtNumber":1,"totalThoughts":2,"nextThoughtNeeded":true}`, Wants: `"thoughtHistoryLength":1`}, {Tool: "sequentialthinking", Arguments: `{"thought":"two","thoughtNumber":2,"totalThoughts":2,"nextThoughtNeeded":false}`, Wants: `"thoughtHistoryLength":2`}},
		},
		{
			Name: "github", Registry: npm, Package: "@modelcontextprotocol/server-github", Version: "2025.4.8", Program: "mcp-server-github", Env: map[string]string{"GITHUB_PERSONAL_ACCESS_TOKEN": "dummy"},
			Calls: []call{{Tool: "search_repositories", Arguments: `{"query":"pflow"}`, Fails: no}, {Tool: "get_file_contents", Arguments: `{"owner":"a","repo":"b","path":"c"}`, Fails: no}},
		},
		{
			Name: "gitlab", Registry: npm, Package: "@modelcontextprotocol/server-gitlab", Version: "2025.4.25", Program: "mcp-server-gitlab", Env: map[string]string{"GITLAB_PERSONAL_ACCESS_TOKEN": "dummy"}, Needs: "GITLAB_PERSONAL_ACCESS_TOKEN",
			Calls: []call{{Tool: "search_repositories", Arguments: `{"search":"pflow"}`, Fails: no}, {Tool: "get_file_contents", Arguments: `{"project_id":"1","file_path":"c"}`, Fails: no}},
		},
		{
			Name: "slack", Registry: npm, Package: "@modelcontextprotocol/server-slack", Version: "2025.4.25", Program: "mcp-server-slack", Env: map[string]string{"SLACK_BOT_TOKEN": "xoxb-dummy", "SLACK_TEAM_ID": "T0"}, Needs: "SLACK_BOT_TOKEN",
			Calls: []call{{Tool: "slack_list_channels", Arguments: `{}`, Wants: no}, {Tool: "slack_get_users", Arguments: `{}`, Wants: no}}, // it calls its errors results
		},
		{
			Name: "google maps", Registry: npm, Package: "@modelcontextprotocol/server-google-maps", Version: "0.6.2", Program: "mcp-server-google-maps", Env: map[string]string{"GOOGLE_MAPS_API_KEY": "dummy"}, Needs: "GOOGLE_MAPS_API_KEY",
			Calls: []call{{Tool: "maps_geocode", Arguments: `{"address":"Berlin"}`, Fails: no + "|failed"}, {Tool: "maps_elevation", Arguments: `{"locations":[{"latitude":1,"longitude":2}]}`, Fails: no + "|failed"}},
		},
		{
			Name: "notion", Registry: npm, Package: "@notionhq/notion-mcp-server", Version: "2.5.2", Program: "notion-mcp-server", Env: map[string]string{"NOTION_TOKEN": "ntn_dummy"},
			Calls: []call{{Tool: "API-get-self", Arguments: `{}`, Fails: no}, {Tool: "API-get-users", Arguments: `{}`, Fails: no}},
		},
		{
			Name: "playwright", Registry: npm, Package: "@playwright/mcp", Version: "0.0.83", Program: "playwright-mcp", Args: []string{"--headless", "--executable-path", "DATA/no-browser"},
			Calls: []call{{Tool: "browser_navigate", Arguments: `{"url":"data:text/html,hello"}`, Fails: "no-browser|not found|doesn't exist|ENOENT"}, {Tool: "browser_snapshot", Arguments: `{}`, Fails: "."}},
		},
		{
			Name: "kubernetes", Registry: npm, Package: "mcp-server-kubernetes", Version: "4.1.7", Program: "mcp-server-kubernetes",
			Calls: []call{{Tool: "ping", Arguments: `{}`, Wants: "node_completed"}, {Tool: "kubectl_get", Arguments: `{"resourceType":"pods"}`, Fails: "kubectl|cluster|connect|refused"}},
		},
		{
			Name: "eslint", Registry: npm, Package: "@eslint/mcp", Version: "0.3.13", Program: "mcp", Files: map[string]string{"a.js": "var unused = 1;\n", "eslint.config.js": "module.exports = [{rules: {'no-unused-vars': 'error'}}];\n"},
			Calls: []call{{Tool: "lint-files", Arguments: `{"filePaths":["DATA/a.js"]}`, Wants: "a.js"}, {Tool: "lint-files", Arguments: `{"filePaths":["DATA/eslint.config.js"]}`, Wants: "eslint.config.js"}},
		},
		{
			Name: "code runner", Registry: npm, Package: "mcp-server-code-runner", Version: "0.1.8", Program: "mcp-server-code-runner",
			Calls: []call{{Tool: "run-code", Arguments: `{"code":"console.log(6*7)","languageId":"javascript"}`, Wants: "42"}, {Tool: "run-code", Arguments: `{"code":"print('py' + 'thon')","languageId":"python"}`, Wants: "python"}},
		},
		{
			Name: "hello world", Registry: npm, Package: "mcp-hello-world", Version: "1.1.2", Program: "mcp-hello-world",
			Calls: []call{{Tool: "echo", Arguments: `{"message":"to the world"}`, Wants: "to the world"}, {Tool: "add", Arguments: `{"a":20,"b":22}`, Wants: "42"}},
		},
		{
			Name: "mongodb", Registry: npm, Package: "mongodb-mcp-server", Version: "3.0.4", Program: "mongodb-mcp-server", Env: map[string]string{"MDB_MCP_TELEMETRY": "disabled"},
			Calls: []call{{Tool: "list-connections", Arguments: `{}`, Wants: "node_completed"}, {Tool: "list-databases", Arguments: `{"connectionId":"none"}`, Fails: "[Cc]onnect"}},
		},
		{
			Name: "pdf", Registry: npm, Package: "@modelcontextprotocol/server-pdf", Version: "2.0.4", Program: "mcp-pdf-server", Args: []string{"--stdio"},
			Calls: []call{{Tool: "list_pdfs", Arguments: `{}`, Wants: "node_completed"}, {Tool: "read_pdf_bytes", Arguments: `{"url":"file://DATA/none.pdf"}`, Fails: "."}},
		},
		{
			Name: "tavily", Registry: npm, Package: "tavily-mcp", Version: "0.2.22", Program: "tavily-mcp", Env: map[string]string{"TAVILY_API_KEY": "dummy"},
			Calls: []call{{Tool: "tavily_search", Arguments: `{"query":"pflow"}`, Fails: no}, {Tool: "tavily_extract", Arguments: `{"urls":["https://example.com"]}`, Fails: no}},
		},
	}
}

func pypiServers() []server {
	old := []string{"mcp<2"} // they were written for the first version of the SDK, and do not say so
	return []server{
		{
			Name: "time", Registry: pypi, Package: "mcp-server-time", Version: "2026.10.19", Program: "mcp-server-time", Args: []string{"--local-timezone", "Europe/Berlin"},
			Calls: []call{{Tool: "get_current_time", Arguments: `{"timezone":"Asia/Tokyo"}`, Wants: "Asia/Tokyo"}, {Tool: "convert_time", Arguments: `{"source_timezone":"UTC","time":"12:00","target_timezone":"Asia/Tokyo"}`, Wants: "21:00"}},
		},
		{
			Name: "git", Registry: pypi, Package: "mcp-server-git", Version: "2026.10.19", Program: "mcp-server-git", Files: map[string]string{"a.txt": "a\n"}, Prepare: []string{"git", "init", "-q", "DATA"},
			Calls: []call{{Tool: "git_status", Arguments: `{"repo_path":"DATA"}`, Wants: "a.txt"}, {Tool: "git_add", Arguments: `{"repo_path":"DATA","files":["a.txt"]}`, Wants: "node_completed"}, {Tool: "git_status", Arguments: `{"repo_path":"DATA"}`, Wants: "new file"}},
		},
		{
			Name: "fetch", Registry: pypi, Package: "mcp-server-fetch", Version: "2026.10.24", Program: "mcp-server-fetch", Args: []string{"--ignore-robots-txt"},
			Calls: []call{{Tool: "fetch", Arguments: `{"url":"http://127.0.0.1:1/"}`, Fails: "127.0.0.1|[Cc]onnect|Failed"}, {Tool: "fetch", Arguments: `{"url":"http://127.0.0.1:1/","raw":true}`, Fails: "."}},
		},
		{
			Name: "sqlite", Registry: pypi, Package: "mcp-server-sqlite", Version: "2025.4.25", Besides: old, Program: "mcp-server-sqlite", Args: []string{"--db-path", "DATA/test.db"},
			Calls: []call{{Tool: "create_table", Arguments: `{"query":"CREATE TABLE t (a INTEGER, b TEXT)"}`, Wants: "success"}, {Tool: "write_query", Arguments: `{"query":"INSERT INTO t VALUES (1, 'kept')"}`, Wants: "affected_rows"}, {Tool: "read_query", Arguments: `{"query":"SELECT b FROM t"}`, Wants: "kept"}},
		},
		{
			Name: "excel", Registry: pypi, Package: "excel-mcp-server", Version: "2.2.2", Program: "excel-mcp-server", Args: []string{"stdio"},
			Calls: []call{{Tool: "create_workbook", Arguments: `{"path":"DATA/a.xlsx"}`, Wants: "a.xlsx"}, {Tool: "write_range", Arguments: `{"path":"DATA/a.xlsx","sheet":"Sheet1","at":"A1","rows":[["name","n"],["kept",7]]}`, Wants: "node_completed"}, {Tool: "read_range", Arguments: `{"path":"DATA/a.xlsx","sheet":"Sheet1"}`, Wants: "kept"}},
		},
		{
			Name: "duckdb", Registry: pypi, Package: "mcp-server-duckdb", Version: "1.1.0", Besides: old, Program: "mcp-server-duckdb", Args: []string{"--db-path", "DATA/test.duckdb"},
			Calls: []call{{Tool: "query", Arguments: `{"query":"CREATE TABLE t AS SELECT 40 + 2 AS n"}`, Wants: "node_completed"}, {Tool: "query", Arguments: `{"query":"SELECT n FROM t"}`, Wants: "42"}},
		},
		{
			Name: "cli", Registry: pypi, Package: "cli-mcp-server", Version: "0.2.5", Besides: old, Program: "cli-mcp-server", Env: map[string]string{"ALLOWED_DIR": "DATA", "ALLOWED_COMMANDS": "ls,echo", "ALLOWED_FLAGS": "all"}, Files: map[string]string{"seen.txt": ""},
			Calls: []call{{Tool: "run_command", Arguments: `{"command":"ls"}`, Wants: "seen.txt"}, {Tool: "show_security_rules", Arguments: `{}`, Wants: "ls"}},
		},
		{
			Name: "word", Registry: pypi, Package: "office-word-mcp-server", Version: "1.1.11", Program: "word_mcp_server",
			Calls: []call{{Tool: "create_document", Arguments: `{"filename":"DATA/a.docx","title":"T"}`, Wants: "created"}, {Tool: "add_paragraph", Arguments: `{"filename":"DATA/a.docx","text":"kept here"}`, Wants: "node_completed"}, {Tool: "get_document_text", Arguments: `{"filename":"DATA/a.docx"}`, Wants: "kept here"}},
		},
		{
			Name: "powerpoint", Registry: pypi, Package: "office-powerpoint-mcp-server", Version: "2.0.7", Besides: old, Program: "ppt_mcp_server",
			Calls: []call{{Tool: "create_presentation", Arguments: `{"id":"kept"}`, Wants: "kept"}, {Tool: "get_presentation_info", Arguments: `{"presentation_id":"kept"}`, Wants: "slide_count"}},
		},
		{
			Name: "calculator", Registry: pypi, Package: "mcp-server-calculator", Version: "0.2.1", Program: "mcp-server-calculator",
			Calls: []call{{Tool: "calculate", Arguments: `{"expression":"6*7"}`, Wants: "42"}, {Tool: "calculate", Arguments: `{"expression":"2**0.5"}`, Wants: "1.414"}},
		},
	}
}
