package suite

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/internal/llmserver"
	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// threeSteps asks a model for an object, makes a text of one of its fields, and asks about that.
const threeSteps = `{
  "inputs": {"server": {"type": "string"}},
  "nodes": [
    {"id": "plan", "type": "llm", "params": {
      "prompt": "Plan the week", "model": "claude-test", "base_url": "${server}",
      "output_schema": {"type": "object", "properties": {"days": {"type": "array", "items": {"type": "string"}}, "title": {"type": "string"}},
        "required": ["days", "title"], "additionalProperties": false}}},
    {"id": "list", "type": "shell", "params": {"command": "echo ${plan.response.title}; printf '%s' \"${plan.response.days[1]}\""}},
    {"id": "tell", "type": "llm", "params": {"prompt": "Say it nicely: ${list.stdout}", "model": "gpt-test", "base_url": "${server}/v1"}}
  ],
  "edges": [{"from": "plan", "to": "list"}, {"from": "list", "to": "tell"}],
  "outputs": {"said": {"source": "${tell.response}"}}
}`

func TestAModelPlansAndTells(t *testing.T) {
	t.Parallel()
	p, s := newPlace(t), llmserver.Start(t)
	s.Key = canary
	s.Reply = func(r *llmserver.Request) llmserver.Answer {
		switch {
		case len(r.Schema) > 0 && r.Number == 1:
			return llmserver.Answer{Status: 529, Error: "Overloaded, " + r.Key()}
		case len(r.Schema) > 0:
			return llmserver.Answer{Text: `{"title":"Week","days":["rest","$(touch pwned)"]}`, Input: 100, Output: 20}
		}
		return llmserver.Answer{Text: "Nicely: " + r.Last() + r.Key(), Input: 30, Output: 7}
	}
	p.env = append(p.env, "OPENAI_API_KEY="+canary, "OPENAI_BASE_URL="+s.URL+"/v1")
	p.write("home/settings.json", `{"env":{"ANTHROPIC_BASE_URL":`+quote(s.URL)+`,"ANTHROPIC_API_KEY":`+quote(canary)+`},"llm":{"prices":{"claude-*":{"input":3,"output":15}}}}`)
	p.write("w.json", threeSteps)
	o := p.run("pflow-exec", "run", "w.json", "server="+s.URL)
	if o.exit != 0 {
		t.Fatal(o)
	}
	usage, progress := map[string]gjson.Result{}, ""
	for line := range strings.Lines(o.stdout) {
		e := gjson.Parse(line)
		switch e.Get("event").Str {
		case "node_completed":
			usage[e.Get("node").Str] = e.Get("outputs.llm_usage")
		case "node_progress":
			progress += e.Get("message").Str + "\n"
		case "run_finished":
			if said := e.Get("outputs.said").Str; said != "Nicely: Say it nicely: Week\n$(touch pwned)<redacted>" {
				t.Errorf("the run says %q", said)
			}
			if u := e.Get("usage"); u.Get("calls").Int() != 2 || u.Get("total_tokens").Int() != 157 {
				t.Errorf("the run's usage is %s", u.Raw)
			}
		}
	}
	if u := usage["plan"]; u.Get("input_tokens").Int() != 100 || u.Get("output_tokens").Int() != 20 || u.Get("cost_usd").Num != 0.0006 || u.Get("model").Str != "claude-test" {
		t.Errorf("the plan's usage is %s", u.Raw)
	}
	if u := usage["tell"]; u.Get("total_tokens").Int() != 37 || u.Get("cost_usd").Exists() {
		t.Errorf("the telling's usage is %s", u.Raw)
	}
	if !strings.Contains(progress, "HTTP 529") || !strings.Contains(progress, "retry 1 of 2") {
		t.Errorf("the retry is not reported: %q", progress)
	}
	if p.read("pwned") != "" {
		t.Error("what the model said was run as code")
	}
	if r := s.Requests(); len(r) != 3 || r[0].API != llmserver.Messages || r[2].API != llmserver.Chat {
		t.Errorf("%d requests", len(r))
	}
	p.checkNoCanary(o.stdout, o.stderr)
}

// An error of a model does not contain the key, and the usage until the failure is counted.
func TestAFailedQuestionIsTold(t *testing.T) {
	t.Parallel()
	p, s := newPlace(t), llmserver.Start(t)
	s.Reply = func(r *llmserver.Request) llmserver.Answer {
		if r.Number == 1 {
			return llmserver.Answer{Text: "not an object", Input: 10, Output: 3}
		}
		return llmserver.Answer{Status: 401, Error: "Incorrect API key provided: " + r.Key()}
	}
	p.env = append(p.env, "OPENAI_API_KEY="+canary, "OPENAI_BASE_URL="+s.URL+"/v1")
	p.write("w.json", node("llm", map[string]any{"prompt": "hello", "model": "m", "output_schema": map[string]any{"type": "object"}}, ""))
	o := p.run("pflow-exec", "run", "w.json")
	last := p.last(o.stdout)
	f, _ := last["error"].(map[string]any)
	message, _ := f["message"].(string)
	if o.exit != 1 || !strings.Contains(message, "HTTP 401") || !strings.Contains(message, "Incorrect API key provided: <redacted>") || !strings.Contains(o.stderr, "OPENAI_API_KEY") {
		t.Error(o)
	}
	if usage, _ := last["usage"].(map[string]any); usage["total_tokens"] != 13.0 {
		t.Errorf("usage %v", usage)
	}
	p.checkNoCanary(o.stdout, o.stderr)
}

// No process is left if a run is cancelled while it waits for a model.
func TestAQuestionIsCancelled(t *testing.T) {
	t.Parallel()
	p, s := newPlace(t), llmserver.Start(t)
	p.write("w.json", node("llm", map[string]any{"prompt": "[[slow 1h]]", "model": "m", "base_url": s.URL + "/v1"}, ""))
	run := p.started("w.json")
	p.eventually("the question is asked", func() bool { return len(s.Requests()) > 0 })
	p.must("pflow-exec", "cancel", run)
	if o := p.run("pflow-exec", "wait", run); o.exit != 143 {
		t.Error(o)
	}
}

// TestAPrefixLeadsToItsProvider asks a model of each provider with the keys of all of them. A proxy sees where the requests go.
func TestAPrefixLeadsToItsProvider(t *testing.T) {
	t.Parallel()
	hosts := make(chan string, 100)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hosts <- r.Host
		http.Error(w, "no way there", http.StatusBadGateway)
	}))
	t.Cleanup(proxy.Close)
	other := llmserver.Start(t)
	for _, s := range nodetype.LLMServices() {
		t.Run(s.Name, func(t *testing.T) {
			p := newPlace(t)
			p.env = append(p.env, "HTTPS_PROXY="+proxy.URL)
			for _, each := range nodetype.LLMServices() {
				p.env = append(p.env, each.KeyVar+"=the-key-of-"+each.Name)
				if each.Name != s.Name {
					p.env = append(p.env, each.URLVar+"="+other.URL+"/v1")
				}
			}
			request := `{"v":1,"params":{"prompt":"hello","retries":0,"model":` + quote(s.Name+"/small") + `}}`
			if s.Name != "ollama" { // it is on this machine
				o := p.fed(request, "pflow-node-llm")
				select {
				case host := <-hosts:
					if !strings.HasPrefix(s.Base, "https://"+strings.TrimSuffix(host, ":443")) {
						t.Errorf("the request went to %s, not to %s", host, s.Base)
					}
				default:
					t.Errorf("nothing was asked: %s", o)
				}
			}
			if n := len(other.Requests()); n > 0 {
				t.Errorf("%d requests went to the server of another provider", n)
			}

			own := llmserver.Start(t)
			if s.KeyVar != "" {
				own.Key = "the-key-of-" + s.Name
			}
			p.env = append(p.env, s.URLVar+"="+own.URL+"/v1")
			if o := p.fed(request, "pflow-node-llm"); gjson.Get(o.stdout, "response").Str != "hello" || own.Requests()[0].Model != "small" {
				t.Errorf("the provider's own key and URL: %s", o)
			}
		})
	}
}
