package search_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/catalog/search"
)

// corpus returns realistic node types: the built-in ones and the tools of well-known servers.
func corpus(t testing.TB) (names []string, x *search.Index) {
	t.Helper()
	var b search.Builder
	for line := range strings.Lines(read(t)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(strings.TrimSpace(line), "|")
		names = append(names, strings.TrimSpace(f[0]))
		b.Add(search.Document{Name: strings.TrimSpace(f[0]), Description: strings.TrimSpace(f[1]), Params: strings.Fields(f[2])})
	}
	return names, b.Index()
}

func read(t testing.TB) string {
	t.Helper()
	source, err := os.ReadFile("testdata/corpus.txt")
	if err != nil {
		t.Fatal(err)
	}
	return string(source)
}

func find(names []string, x *search.Index, query string) (found []string) {
	for _, h := range search.Search(query, func(_, doc int) string { return names[doc] }, x) {
		found = append(found, names[h.Document])
	}
	return found
}

// Queries of agents with the type that must be found: as the first, or with + among the first three.
func TestQueries(t *testing.T) {
	names, x := corpus(t)
	for query, want := range map[string]string{
		// Names as they are, in other spellings, and parts of them.
		"shell":                   "shell",
		"read-file":               "read-file",
		"read_file":               "read-file",
		"readFile":                "read-file",
		"readfile":                "read-file",
		"READ FILE":               "read-file",
		"file read":               "read-file",
		"mcp-github-create-issue": "mcp-github-create-issue",
		"mcp-github-create_issue": "mcp-github-create-issue",
		"github create issue":     "mcp-github-create-issue",
		"get forecast":            "mcp-weather-getForecast",
		"getforecast":             "mcp-weather-getForecast",
		"postgres query":          "mcp-postgres-query",
		"kube pods":               "mcp-kubernetes-list-pods",
		"screensh":                "mcp-puppeteer-puppeteer-screenshot",
		// Other forms of words.
		"reading files":         "read-file",
		"copies files":          "copy-file",
		"deleting a file":       "delete-file",
		"issues on GitHub":      "+mcp-github-list-issues",
		"listing commits":       "mcp-github-list-commits",
		"merging pull requests": "mcp-github-merge-pull-request",
		"converts timezones":    "mcp-time-convert-time",
		"scaling deployments":   "mcp-kubernetes-scale-deployment",
		// Typing errors.
		"shel":               "shell",
		"shlel":              "shell",
		"raed file":          "read-file",
		"wirte flie":         "write-file",
		"githb isue":         "+mcp-github-create-issue",
		"creat githbu isue":  "mcp-github-create-issue",
		"screenshoot":        "mcp-puppeteer-puppeteer-screenshot", //nolint:misspell // on purpose
		"pul request reviw":  "mcp-github-create-pull-request-review",
		"respositories":      "+mcp-github-search-repositories", //nolint:misspell // on purpose
		"postgress tables":   "mcp-postgres-list-tables",
		"conflunce page":     "+mcp-confluence-get-page",
		"kuberntes logs":     "mcp-kubernetes-get-logs",
		"transcirpt youtube": "mcp-youtube-getTranscript", //nolint:misspell // on purpose
		// Sentences.
		"create an issue on github":                   "mcp-github-create-issue",
		"I want to send a message to a slack channel": "mcp-slack-slack-post-message",
		"how do I read a file?":                       "read-file",
		"make an http request":                        "http",
		"run a python program":                        "code",
		"ask a language model":                        "llm",
		"take a screenshot of a web page":             "mcp-puppeteer-puppeteer-screenshot",
		"list the tables in my postgres database":     "mcp-postgres-list-tables",
		"search the web for news":                     "mcp-brave-search-brave-web-search",
		"what time is it in another timezone":         "+mcp-time-get-current-time",
		"which files were changed in a pull request":  "mcp-github-get-pull-request-files",
		"move a ticket to another status":             "mcp-jira-jira-transition-ticket",
		"please click on the button element":          "mcp-puppeteer-puppeteer-click",
		"open a merge request in gitlab":              "mcp-gitlab-create-merge-request",
		"comment on an existing issue":                "mcp-github-add-issue-comment",
		"get the transcript of a video":               "mcp-youtube-getTranscript",
		"add a reaction to a message":                 "mcp-slack-slack-add-reaction",
		// Synonyms.
		"remove a file":      "delete-file",
		"rename file":        "move-file",
		"create a folder":    "mcp-filesystem-create-directory",
		"send slack msg":     "mcp-slack-slack-post-message",
		"github repo search": "mcp-github-search-repositories",
		"download url":       "+mcp-fetch-fetch",
		"bash command":       "shell",
		"edit file":          "mcp-filesystem-edit-file",
		// Common words for what the built-in types do.
		"openai": "llm", "anthropic": "llm", "gpt": "llm", "ask gpt a question": "llm", "chatgpt": "llm", "antropic": "llm",
		"claude": "+agent", "download": "+http", "curl": "http", "rest api": "http", "http post request": "http", "send an http request": "http",
		"excecute": "+shell", //nolint:misspell // on purpose
		"execute":  "+shell", "terminal": "shell", "termnal": "shell", "bash": "+shell",
		"python script": "code", "javascript": "+code", "pyhton": "+code", "transform json": "jq",
		// Accents, and words of a description or of parameters alone.
		"écho":                   "echo",
		"emoji":                  "mcp-slack-slack-add-reaction",
		"base64 image":           "mcp-filesystem-read-media-file",
		"jql":                    "mcp-jira-jira-search",
		"geographic coordinates": "mcp-google-maps-maps-geocode",
	} {
		found := find(names, x, query)
		best := found[:min(1, len(found))]
		if among, ok := strings.CutPrefix(want, "+"); ok {
			want, best = among, found[:min(3, len(found))]
		}
		if !slices.Contains(best, want) {
			t.Errorf("%q: %v, and not %s", query, found[:min(5, len(found))], want)
		}
	}
}

// The built-in type comes first among thousands of tools that match one word of the query each.
func TestQueriesOverManyTools(t *testing.T) {
	names, _ := corpus(t)
	names = slices.DeleteFunc(names, func(name string) bool { return strings.HasPrefix(name, "mcp-") })
	verbs := strings.Fields("send-pull-request create-post post-message http-status request-review get-request run-query execute-statement fetch-page read-record download-report")
	tools := make([]string, 10_000)
	var b, own search.Builder
	for i := range tools {
		verb := verbs[i%len(verbs)]
		tools[i] = fmt.Sprintf("mcp-server%d-%s-%d", i%100, verb, i)
		b.Add(search.Document{Name: tools[i], Description: "Can " + strings.ReplaceAll(verb, "-", " ") + " of a project, by request over the web", Params: []string{"url", "path"}})
	}
	for line := range strings.Lines(read(t)) {
		if f := strings.Split(line, "|"); !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "mcp-") {
			own.Add(search.Document{Name: strings.TrimSpace(f[0]), Description: f[1], Params: strings.Fields(f[2])})
		}
	}
	over := []*search.Index{own.Index(), b.Index()}
	for query, want := range map[string]string{
		"http": "http", "http post request": "http", "send an http request": "http", "make a http request": "http", "shell": "shell",
		"http requests": "http", "run a shell command": "shell", "read a file": "read-file", "openai": "llm", "ask gpt a question": "llm",
		"excecute a shell command": "shell", //nolint:misspell // on purpose
	} {
		hits := search.Search(query, func(index, doc int) string {
			if index == 0 {
				return names[doc]
			}
			return tools[doc]
		}, over...)
		if len(hits) == 0 || hits[0].Index != 0 || names[hits[0].Document] != want {
			t.Errorf("%q: not %s but %+v", query, want, hits[:min(3, len(hits))])
		}
	}
}
