package suite

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tellingAgent stands in for claude. It says which key it has in every way.
const tellingAgent = `#!/bin/sh
cat >/dev/null
echo "the key is $ANTHROPIC_API_KEY" >&2
echo '{"type":"assistant","session_id":"9b1c","message":{"id":"a","model":"m","content":[{"type":"text","text":"my key is '"$ANTHROPIC_API_KEY"'"}],"usage":{"input_tokens":5,"output_tokens":2}}}'
echo '{"type":"result","subtype":"success","is_error":false,"num_turns":1,"session_id":"9b1c","result":"the key is '"$ANTHROPIC_API_KEY"'","total_cost_usd":0.01,"usage":{"input_tokens":1,"output_tokens":1}}'
`

// TestACanaryInParameters: secrets in the parameters of nodes, which servers and programs put out, are nowhere: neither when the run has failed
// nor after its resume.
func TestACanaryInParameters(t *testing.T) {
	t.Parallel()
	for name, node := range map[string]string{
		"headers":      `"type":"http","params":{"url":"URL/","retries":0,"headers":{"Authorization":"Bearer §","X-Api-Key":"§","Cookie":"a=b; sid=§","X-Auth-Token":"§"}}`,
		"a URL":        `"type":"http","params":{"url":"http://me:§@HOST/fail?key=§&token=§&a_sid=§","retries":0}`,
		"a body":       `"type":"http","params":{"url":"URL/","retries":0,"method":"POST","body":{"password":"§","deep":{"api_key":"§","list":[{"access_token":"§"}]},"url":"http://me:§@h/"}}`,
		"OpenAI":       `"type":"llm","params":{"provider":"openai","model":"m","prompt":"p","api_key":"§","base_url":"URL/llm","retries":0}`,
		"Anthropic":    `"type":"llm","params":{"provider":"anthropic","model":"m","prompt":"p","api_key":"§","base_url":"URL/llm","retries":0}`,
		"an agent":     `"type":"agent","params":{"command":"./claude","prompt":"p","env":{"ANTHROPIC_API_KEY":"§"}}`,
		"a nested URL": `"type":"http","params":{"url":"URL/?next=https%3A%2F%2Fme%3A§%40h%2F&then=%2Fcb%3Ftoken%3D§","retries":0}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				dump, _ := httputil.DumpRequest(r, true)
				user, password, _ := r.BasicAuth()
				w.Header()["Set-Cookie"] = r.Header["Cookie"]
				switch first, _, _ := strings.Cut(r.URL.Path[1:], "/"); first {
				case "fail":
					w.WriteHeader(http.StatusInternalServerError)
				case "llm":
					w.Header().Set("Content-Type", "application/json")
					w.WriteHeader(http.StatusUnauthorized)
					_, _ = fmt.Fprintf(w, `{"type":"error","error":{"type":"authentication_error","message":"Incorrect key: %s%s"}}`, r.Header.Get("Authorization"), r.Header.Get("X-Api-Key"))
					return
				}
				_, _ = fmt.Fprintf(w, "%s\nuser %s, password %s, key %s, token %s", dump, user, password, r.FormValue("key"), r.FormValue("token"))
			}))
			defer server.Close()
			var secrets []string
			node := strings.NewReplacer("URL", server.URL, "HOST", strings.TrimPrefix(server.URL, "http://")).Replace(node)
			for strings.Contains(node, "§") {
				secrets = append(secrets, random(false))
				node = strings.Replace(node, "§", secrets[len(secrets)-1], 1)
			}
			p := newPlace(t)
			h := p.look(secrets...)
			h.theirs = append(h.theirs, "workflows/telling.json")
			p.write("claude", tellingAgent)
			if err := os.Chmod(filepath.Join(p.dir, "claude"), 0o700); err != nil { //nolint:gosec // it is a program
				t.Fatal(err)
			}
			p.draft("telling", `{"nodes":[{"id":"tells",`+node+`},{"id":"mended","type":"echo"},{"id":"last","type":"shell","params":{"command":"test -e fixed"}}],
				"edges":[{"from":"tells","to":"last"},{"from":"tells","to":"mended","action":"error"},{"from":"mended","to":"last"}]}`)
			if o := h.ask("", "pflow-exec", "run", "telling", "--log-level", "debug"); o.exit != 1 || !strings.Contains(o.stdout, "<redacted>") {
				t.Errorf("the exit status is %d, want 1, and something is redacted: %s", o.exit, o)
			}
			h.everywhere()
			p.write("fixed", "")
			if o := h.ask("", "pflow-exec", "resume", "last", "--log-level", "debug"); o.exit != 0 {
				t.Errorf("the exit status of the resume is %d, want 0: %s", o.exit, o)
			}
			h.everywhere()
		})
	}
}
