package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
)

// eachSecret returns a text for each secret: one of the patterns, in which § stands for the secret.
func eachSecret(secrets []string, patterns ...string) (filled []string) {
	for i, s := range secrets {
		filled = append(filled, strings.ReplaceAll(patterns[i%len(patterns)], "§", s))
	}
	return filled
}

// declare declares an input for each secret and makes their values the source of the workflow.
func (l *leaky) declare(secrets []string, name string, more object) {
	l.values, l.source = object{}, `printf '%s\n'`
	for i, s := range secrets {
		in := object{"type": "string"}
		maps.Copy(in, more)
		id := fmt.Sprintf(name, i)
		l.inputs[id], l.values[id] = in, s
		l.source += ` "${` + id + `}"`
	}
}

// assign passes values as KEY=VALUE.
func (l *leaky) assign() {
	for id, value := range l.values {
		l.args = append(l.args, fmt.Sprintf("%s=%s", id, value))
	}
}

// echoURL is the URL of the server that answers with what it was asked.
func (t *trial) echoURL(path string) string { return t.rig.echo.URL + path }

// requests returns an http node for each group of four secrets.
func (t *trial) requests(secrets []string, params func(four []string) object) (nodes []object) {
	for i := 0; i < len(secrets); i += 4 {
		p := object{"url": t.echoURL("/"), "retries": 0}
		maps.Copy(p, params(secrets[i:i+4]))
		nodes = append(nodes, object{"id": fmt.Sprintf("http%d", i), "type": "http", "params": p})
	}
	return nodes
}

// text makes texts what the workflow prints: nothing else tells it of the secrets.
func (t *trial) text(l *leaky, lines []string) {
	t.must(t.put("bare", strings.Join(lines, "\n")+"\n"))
	l.bare = true
}

// connections are forms of connection strings.
var connections = []string{
	"postgres://me:§@h/db", "Server=h;Database=d;User Id=me;Password=§;Encrypt=yes", "Server=h;PWD=§", "me:§@tcp(h:3306)/db", "redis://:§@h", "host=h user=me password=§ dbname=d",
	"host=h password='§'", "https://h/v1?api_key=§", "DefaultEndpointsProtocol=https;AccountName=n;AccountKey=§;Suffix=x", "amqps://me:§@h/%2f",
}

// places are all places in which secrets are written.
var places = []place{
	{"input", true, func(_ *trial, secrets []string, l *leaky) {
		l.declare(secrets, "pin%d", object{"secret": true})
		l.assign()
	}},
	{"input by its name", true, func(_ *trial, secrets []string, l *leaky) {
		l.declare(secrets, "a%d_token", nil)
		l.assign()
	}},
	{"input in a file", true, func(t *trial, secrets []string, l *leaky) {
		l.declare(secrets, "pin%d", object{"secret": true})
		b, _ := json.Marshal(l.values)
		t.must(t.put("inputs.json", string(b)))
		l.args = []string{"--inputs", "inputs.json"}
	}},
	{"input with parts", true, func(_ *trial, secrets []string, l *leaky) {
		b, _ := json.Marshal(object{"list": secrets})
		l.inputs["pin"] = object{"type": "object", "secret": true}
		l.values = object{"pin": object{"list": secrets}}
		l.args = []string{"pin:=" + string(b)}
	}},
	{"stdin", false, func(t *trial, secrets []string, l *leaky) {
		l.inputs["pin"] = object{"type": "string", "secret": true, "stdin": true}
		l.values = object{"pin": strings.Join(secrets, "\n")}
		l.source, l.stdin, l.resumeArgs = `printf '%s\n' "${pin}"`, "bare", []string{"pin=" + strings.Join(secrets, "\n")}
	}},
	{"several lines", true, func(_ *trial, secrets []string, l *leaky) {
		all := "-----BEGIN KEY-----\n" + strings.Join(secrets, "\r\n") + "\n-----END KEY-----\n"
		l.inputs["pin"], l.values, l.args = object{"type": "string", "secret": true}, object{"pin": all}, []string{"pin=" + all}
	}},
	{"connection strings", false, func(_ *trial, secrets []string, l *leaky) {
		l.declare(eachSecret(secrets, connections...), "c%d", object{"secret": true})
		l.source = "cat bare"
		l.assign()
	}},
	{"environment", true, func(t *trial, secrets []string, l *leaky) {
		l.source = `printf '%s\n'`
		for i, s := range secrets {
			name := fmt.Sprintf([]string{"A%d_TOKEN", "B%d_API_KEY", "C%d_PASSWORD", "D%d_SECRET"}[i%4], i)
			t.env[name] = s
			l.source += ` "$` + name + `"`
		}
	}},
	{"environment's connections", false, func(t *trial, secrets []string, _ *leaky) {
		for i, s := range eachSecret(secrets, connections...) {
			t.env[fmt.Sprintf("C%d_SECRET", i)] = s
		}
	}},
	{"environment's URLs", false, func(t *trial, secrets []string, _ *leaky) {
		for i, s := range eachSecret(secrets, "postgres://me:§@h/db", "https://h/?token=§&a=b", "https://§@h/", "redis://:§@h") {
			t.env[fmt.Sprintf("C%d_URL", i)] = s
		}
	}},
	{"env file", true, func(t *trial, secrets []string, l *leaky) {
		var b strings.Builder
		for i, s := range secrets {
			fmt.Fprintf(&b, "A%d_TOKEN='%s'\n", i, s)
		}
		t.must(t.put("vars.env", b.String()))
		l.args, l.apart = []string{"--env-file", "vars.env"}, true
	}},
	{"settings", true, func(t *trial, secrets []string, l *leaky) {
		env := object{}
		for i, s := range secrets {
			env[fmt.Sprintf("plain%d", i)] = s
		}
		b, _ := json.Marshal(object{"env": env})
		t.must(t.put("home/settings.json", string(b)))
		l.declare(secrets, "plain%d", nil)
	}},
	{"literal parameters", true, func(_ *trial, secrets []string, l *leaky) {
		env := object{}
		for i, s := range secrets {
			env[fmt.Sprintf("A%d_TOKEN", i)] = s
		}
		l.more = []object{{"id": "literal", "type": "shell", "params": object{"command": "env; env >&2", "env": env}}}
	}},
	{"headers", false, func(t *trial, secrets []string, l *leaky) {
		l.more = t.requests(secrets, func(s []string) object {
			return object{"headers": object{"Authorization": "Bearer " + s[0], "X-Api-Key": s[1], "Cookie": "a=b; sid=" + s[2], "X-Auth-Token": s[3]}}
		})
	}},
	{"URLs of the workflow", false, func(t *trial, secrets []string, l *leaky) {
		host := strings.TrimPrefix(t.echoURL("/fail"), "http://")
		l.more = t.requests(secrets, func(s []string) object {
			return object{"url": fmt.Sprintf("http://me:%s@%s?key=%s&token=%s&a_sid=%s", s[0], host, s[1], s[2], s[3])}
		})
	}},
	{"form and body", false, func(t *trial, secrets []string, l *leaky) {
		l.more = t.requests(secrets, func(s []string) object {
			return object{"method": "POST", "body": object{"password": s[0], "deep": object{"api_key": s[1], "list": []object{{"access_token": s[2]}}, "url": "http://me:" + s[3] + "@h/"}}}
		})
	}},
	{"API keys", false, func(t *trial, secrets []string, l *leaky) {
		for i, s := range secrets[:16] {
			provider := []string{"openai", "anthropic"}[i%2]
			l.more = append(l.more, object{"id": fmt.Sprintf("llm%d", i), "type": "llm", "params": object{
				"provider": provider, "model": "m", "prompt": "p", "api_key": s, "base_url": t.echoURL("/llm"), "retries": 0,
			}})
		}
		for i, s := range secrets[16:] {
			l.more = append(l.more, object{"id": fmt.Sprintf("agent%d", i), "type": "agent", "params": object{
				"command": "./claude", "prompt": "p", "env": object{"ANTHROPIC_API_KEY": s},
			}})
		}
		t.must(t.putProgram("claude", tellingAgent))
	}},
	{"API keys of the environment", false, func(t *trial, secrets []string, l *leaky) {
		t.env["OPENAI_API_KEY"], t.env["ANTHROPIC_API_KEY"], t.env["OPENAI_BASE_URL"], t.env["ANTHROPIC_BASE_URL"] = secrets[0], secrets[1], t.echoURL("/llm"), t.echoURL("/llm")
		for i, s := range secrets[2:] {
			t.env[fmt.Sprintf("A%d_API_KEY", i)] = s
		}
		l.more = []object{
			{"id": "openai", "type": "llm", "params": object{"provider": "openai", "model": "m", "prompt": "p"}},
			{"id": "anthropic", "type": "llm", "params": object{"provider": "anthropic", "model": "m", "prompt": "p"}},
			{"id": "agent", "type": "agent", "params": object{"command": "./claude", "prompt": "p"}},
		}
		t.must(t.putProgram("claude", tellingAgent))
	}},
	{"MCP server", false, func(t *trial, secrets []string, l *leaky) {
		env := object{"SAID": t.dir + "/bare"}
		for i, s := range secrets[:18] {
			name := fmt.Sprintf([]string{"X%d_TOKEN", "X%d_URL", "X%d_DSN", "X%d_DB"}[i%4], i)
			env[name] = strings.ReplaceAll([]string{"§", "postgres://me:§@h/db", "me:§@tcp(h)/db", "Server=h;Password=§"}[i%4], "§", s)
		}
		t.must(t.serveMCP(env, "--api-key", secrets[18], "postgres://a:"+secrets[19]+"@h/d"))
		l.more = []object{{"id": "says", "type": "mcp-teller-say"}, {"id": "says-no", "type": "mcp-teller-fail"}}
		l.then = tellers
	}},
	{"arguments of a call", false, func(t *trial, secrets []string, l *leaky) {
		t.text(l, eachSecret(secrets, "https://me:§@h/"))
		deep, _ := json.Marshal(object{"auth": object{"password": secrets[0], "list": []object{{"api_key": secrets[1]}}}, "url": "http://me:" + secrets[2] + "@h/?token=" + secrets[3]})
		t.must(t.put("deep.json", string(deep)))
		l.then = [][]string{{"pflow-sync", "call", "teller", "say", "-", "<", "deep.json"}, {"pflow-sync", "call", "teller", "fail", "-", "--log-level", "debug", "<", "deep.json"}}
		for i, s := range eachSecret(secrets[4:], "token=§", "password=§", "x=https://me:§@h/", "x=https://h/?key=§", "api_key:=\"§\"", "url=postgres://me:§@h/db") {
			l.then = append(l.then, []string{"pflow-sync", "call", "teller", []string{"say", "fail", "none"}[i%3], s, "--log-level", "debug"})
		}
	}},
	{"descriptions of tools", false, func(t *trial, secrets []string, l *leaky) {
		lines := eachSecret(secrets, "https://me:§@h/a", "see https://h/?a=b&key=§.", "Cookie: sid=§", "/cb?access_token=§#x")
		t.text(l, lines)
		t.must(t.serveMCP(object{"SAID": t.dir + "/bare"}))
		nodes := object{}
		for i, line := range lines {
			nodes[fmt.Sprintf("mcp-old-say%d", i)] = object{"class_name": "MCPNode", "interface": object{"description": "says " + line, "mcp_metadata": object{"server": "old", "tool": "say"}}}
		}
		b, _ := json.Marshal(object{"version": "1.0.0", "nodes": nodes})
		t.must(t.put("home/registry.json", string(b)))
		l.theirs = append(l.theirs, "registry.json", "registry.json.bak") // the user's own entry stays in both
		l.then = append([][]string{{"pflow-lib", "search", "says"}, {"pflow-lib", "describe", "mcp-old-say3"}}, tellers...)
	}},
	{"URLs in texts", false, func(t *trial, secrets []string, l *leaky) {
		t.text(l, eachSecret(secrets,
			"https://me:§@h/a", "see http://me:§@host:80/, it failed", "redis://:§@h:1", "https://§@host/a.git", `{"url":"http:\/\/me:§@h\/"}`, "fatal: unable to access 'https://me:§@host/'", "mongodb+srv://me:§@h"))
	}},
	{"parameters in texts", false, func(t *trial, secrets []string, l *leaky) {
		t.text(l, eachSecret(secrets,
			"GET /a?token=§ HTTP/1.1", "https://h/?a=b&key=§&c=d", "https://h/?sid=§", "/cb?access_token=§#x", "/?api_key=§", "/?a&amp;password=§", `{"next":"/a?b=1\u0026token=§"}`, "password=§&user=me"))
	}},
	{"cookies in texts", false, func(t *trial, secrets []string, l *leaky) {
		t.text(l, eachSecret(secrets,
			"Cookie: sid=§", "Cookie: theme=dark; token=§; lang=en", "Set-Cookie: sid=§; Path=/; HttpOnly", `{"set-cookie":["a=b","sid=§; Path=/"]}`, "curl -H 'Cookie: sid=§' h", "sid=§; Path=/; Secure"))
	}},
	{"nested URLs", false, func(t *trial, secrets []string, l *leaky) {
		t.text(l, eachSecret(secrets,
			"https://h/login?next=https%3A%2F%2Fme%3A§%40h%2F", "https://h/?next=%2Fcb%3Ftoken%3D§%26a%3Db", "https://h/?u=https%3a%2f%2fh%2f%3fapi_key%3d§", "/?r=%2Fa%3Fb%3D1%26key%3D§"))
	}},
}

// tellers are the commands that show what an MCP server says.
var tellers = [][]string{
	{"pflow-sync", "sync", "teller", "--log-level", "debug"}, {"pflow-sync", "call", "teller", "say", "--log-level", "debug"}, {"pflow-sync", "call", "teller", "fail", "--format", "text"},
	{"pflow-sync", "call", "teller", "none"}, {"pflow-sync", "list"}, {"pflow-sync", "list", "--format", "text"}, {"pflow-sync", "tools"}, {"pflow-sync", "tools", "--format", "text"},
	{"pflow-lib", "search", "says"}, {"pflow-lib", "describe", "mcp-teller-say"}, {"pflow-lib", "describe", "mcp-teller-say", "--format", "text"},
}
