package suite

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/internal/brief"
)

// canaries are how many secrets each place has.
const canaries = 20

// flock returns secrets.
func flock() []string {
	list := make([]string, canaries)
	for i := range list {
		list[i] = random(false)
	}
	return list
}

// printer is a workflow that prints the files got and, a line at a time, lines: in every way in which a node puts something out.
const printer = `{"inputs":{INPUTS},"nodes":[
	{"id":"out","type":"shell","params":{"command":"cat got"}},
	{"id":"err","type":"shell","params":{"command":"cat got >&2"}},
	{"id":"fails","type":"shell","params":{"command":"cat got >&2; cat got; exit 4"}},
	{"id":"long","type":"shell","params":{"command":"for i in 1 2 3 4 5 6 7 8 9; do for j in 1 2 3 4 5 6 7 8 9; do cat got; done; done"}},
	{"id":"bytes","type":"shell","params":{"command":"printf '\\377'; cat got"}},
	{"id":"file","type":"read-file","params":{"file_path":"got"}},
	{"id":"list","type":"shell","batch":{"items":["one","two"]},"params":{"command":"echo ${item}; cat got"}},
	{"id":"told","type":"echo","params":{"message":"${file.content}","data":{"a":["${out.stdout}"]}}},
	{"id":"said","type":"echo","params":{"message":"${lines.stdout}"}},
	{"id":"lines","type":"shell","params":{"command":"while IFS= read -r x; do printf '%s\\n' \"$x\"; printf 'it is %s.\\n' \"$x\" >&2; done < lines"}},
	{"id":"no-file","type":"shell","params":{"command":"cat \"none/$(head -n 1 lines)\""}}]}`

// TestACanaryAsACredential: secrets that nobody has declared, found by their place; and the parts of secrets that are known.
func TestACanaryAsACredential(t *testing.T) {
	t.Parallel()
	needs(t, "cat", "head")
	// Each form has § for a secret. What a program prints has all of them in file got.
	forms := map[string][]string{
		"URLs": {
			"https://me:§@host/a", "see http://me:§@host:80/, it failed", "postgres://me:§@h/db?x=1", "redis://:§@h:1", "https://§@host/a.git",
			`{"url":"http:\/\/me:§@h\/"}`, `{"url":"http://me:§@h/"}`, "mongodb+srv://me:§@h", "fatal: unable to access 'https://me:§@host/'", "http_proxy=http://me:§@proxy:3128",
		},
		"parameters": {
			"GET /a?token=§ HTTP/1.1", "https://h/?a=b&key=§&c=d", "https://h/?sid=§", "/cb?access_token=§#x", "/?api_key=§", "/?client_secret=§&b=c", "/?a&amp;password=§",
			`{"next":"/a?b=1\u0026token=§"}`, "(https://h/?apikey=§)", "password=§&user=me",
		},
		"cookies": {
			"Cookie: sid=§", "Cookie: theme=dark; token=§; lang=en", "Set-Cookie: sid=§; Path=/; HttpOnly", "set-cookie: a=b; Max-Age=1, key=§", "> cookie: JSESSIONID=§",
			`{"Cookie":"sid=§; a=b"}`, `{"set-cookie":["a=b","sid=§; Path=/"]}`, "curl -H 'Cookie: sid=§' h", `document.cookie = "token=§"`, "sid=§; Path=/; Secure",
		},
	}
	for name, list := range forms {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			secrets := flock()
			p := newPlace(t)
			h := p.look(secrets...)
			var got strings.Builder
			for i, secret := range secrets {
				got.WriteString(strings.ReplaceAll(list[i%len(list)], "§", secret) + "\n")
			}
			h.prints(got.String(), got.String(), "")
		})
	}
	// The secret has all that the input, the variable or the setting has; a program prints parts of it.
	connections := []string{
		"postgres://me:§@h/db", "Server=h;Database=d;User Id=me;Password=§;Encrypt=yes", "Server=h;PWD=§", "me:§@tcp(h:3306)/db", "redis://:§@h", "host=h user=me password=§ dbname=d",
		"host=h password='§'", "https://h/v1?api_key=§", "DefaultEndpointsProtocol=https;AccountName=n;AccountKey=§;Suffix=x", "amqps://me:§@h/%2f",
	}
	for i, kind := range []string{"lines", "connections"} {
		for _, source := range brief.PartFrom(i, []string{"input", "named", "environment", "settings"}, 2) {
			t.Run(kind+" "+source, func(t *testing.T) {
				t.Parallel()
				secrets := flock()
				p := newPlace(t)
				h := p.look(secrets...)
				inputs, args, values := "", []string{}, map[string]string{"all": strings.Join(secrets, "\n") + "\n"}
				if kind == "connections" {
					clear(values)
					for i, secret := range secrets {
						values[fmt.Sprintf("c%d", i)] = strings.ReplaceAll(connections[i%len(connections)], "§", secret)
					}
				}
				settings := []string{}
				for name, value := range values {
					switch source {
					case "input":
						inputs += fmt.Sprintf(`,%q:{"type":"string","secret":true}`, name)
						args = append(args, name+"="+value)
					case "named":
						inputs += fmt.Sprintf(`,"%s_secret":{"type":"string"}`, name)
						args = append(args, name+"_secret="+value)
					case "environment":
						p.env = append(p.env, name+"_SECRET="+value)
					case "settings":
						settings = append(settings, quote(name)+":"+quote(value))
					}
				}
				p.write("home/settings.json", `{"env":{`+strings.Join(settings, ",")+`}}`)
				all := strings.Join(secrets, "\n") + "\n"
				h.prints("the first: "+secrets[0]+".\n"+strings.Join(secrets[3:9], "; ")+"\n", all, strings.TrimPrefix(inputs, ","), args...)
			})
		}
	}
}

// prints runs the workflow that prints two texts, and hunts everywhere.
func (h *hunt) prints(got, lines, inputs string, args ...string) {
	h.Helper()
	h.write("got", got)
	h.write("lines", lines)
	h.draft("telling", strings.ReplaceAll(printer, "INPUTS", inputs))
	args = append([]string{"run", "telling", "--keep-going", "--log-level", "debug"}, args...)
	o := h.ask("", "pflow-exec", args...)
	for _, node := range []string{"out", "err", "file", "told", "said", "lines", "list", "fails", "no-file"} {
		found := false
		for line := range strings.Lines(o.stdout) {
			found = found || strings.Contains(line, `"node":"`+node+`"`) && strings.Contains(line, "<redacted>")
		}
		if !found {
			h.Errorf("in what is told of node %s nothing is redacted: %s", node, o.stderr)
		}
	}
	h.ask("", "pflow-exec", append(args, "--format", "json", "--max-output-chars=0")...)
	h.ask("", "pflow-exec", append(args, "--format", "text")...)
	h.everywhere()
}

// TestACanaryInAWorkflowsURLs: what stands in the URLs of a workflow, and what their server answers with.
func TestACanaryInAWorkflowsURLs(t *testing.T) {
	t.Parallel()
	secrets, cookies := flock(), flock()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for i, cookie := range cookies {
			w.Header().Add("Set-Cookie", fmt.Sprintf("a%d_sid=%s; Path=/", i, cookie))
		}
		user, password, _ := r.BasicAuth()
		_, _ = fmt.Fprintf(w, "user %s, password %s, key %s, %s, %s", user, password, r.FormValue("key"), r.Header.Get("Authorization"), r.URL)
	}))
	defer server.Close()
	p := newPlace(t)
	h := p.look(append(secrets, cookies...)...)
	h.theirs = append(h.theirs, "workflows/telling.json")
	host := strings.TrimPrefix(server.URL, "http://")
	var nodes []string
	for i := range canaries / 2 {
		url := fmt.Sprintf("http://me:%s@%s/a?b=c&key=%s", secrets[2*i], host, secrets[2*i+1])
		nodes = append(nodes, fmt.Sprintf(`{"id":"n%d","type":"http","params":{"url":%q}}`, i, url),
			fmt.Sprintf(`{"id":"s%d","type":"shell","params":{"command":"echo '%s'; echo %s"}}`, i, url, secrets[2*i]))
	}
	p.draft("telling", `{"nodes":[`+strings.Join(nodes, ",")+`]}`)
	o := h.ask("", "pflow-exec", "run", "telling", "--log-level", "debug")
	if o.exit != 0 || strings.Count(o.stdout, "password <redacted>, key <redacted>") < canaries/2 {
		t.Error(o)
	}
	h.everywhere()
}

// TestACanaryInAURLThatIsGiven: an input that is not secret, and the environment; the node prints the password alone.
func TestACanaryInAURLThatIsGiven(t *testing.T) {
	t.Parallel()
	needs(t, "sed", "base64")
	secrets := flock()
	p := newPlace(t)
	h := p.look(secrets...)
	var inputs, nodes []string
	args := []string{"run", "telling", "--log-level", "debug"}
	for i, secret := range secrets {
		url, value := fmt.Sprintf("$U%d", i), "http://me:"+secret+"@h/a"
		if i%2 == 0 {
			url = fmt.Sprintf("${u%d}", i)
			inputs = append(inputs, fmt.Sprintf(`"u%d":{"type":"string"}`, i))
			args = append(args, fmt.Sprintf("u%d=%s", i, value))
		} else {
			p.env = append(p.env, fmt.Sprintf("U%d=%s", i, value))
		}
		nodes = append(nodes, fmt.Sprintf(`{"id":"n%d","type":"shell","params":{"command":"x=$(printf %%s \"%s\" | sed 's/.*me:\\(.*\\)@.*/\\1/'); echo \"$x\"; echo \"it is $x\" >&2; printf 'me:%%s' \"$x\" | base64"}}`, i, url))
	}
	p.draft("telling", `{"inputs":{`+strings.Join(inputs, ",")+`},"nodes":[`+strings.Join(nodes, ",")+`]}`)
	if o := h.ask("", "pflow-exec", args...); o.exit != 0 || strings.Count(o.stdout, "it is <redacted>") < canaries {
		t.Error(o)
	}
	h.everywhere()
}

// fakeServer is an MCP server whose description, answers, errors and logs have all that its environment and file said have.
const fakeServer = `#!/bin/sh
said=$(cat "$1" | tr '\n' ' ')
echo "starting with $said $API_TOKEN $DB_URL" >&2
while IFS= read -r line; do
	id=$(printf %s "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
	case "$line" in
	*'"initialize"'*) r='{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"f","version":"1"}}' ;;
	*'"tools/list"'*) r='{"tools":[{"name":"say","description":"needs '"$said $API_TOKEN"'","inputSchema":{"type":"object","properties":{"x":{"type":"string","description":"as '"$said"'","default":"'"$DB_URL"'"}}}},
		{"name":"fail","inputSchema":{"type":"object"}}]}' ; r=$(printf %s "$r" | tr -d '\n') ;;
	*'"say"'*) r='{"content":[{"type":"text","text":"'"$said $API_TOKEN $DB_URL"'"},{"type":"text","text":"more '"$said"'"}]}' ;;
	*'"fail"'*) r='{"isError":true,"content":[{"type":"text","text":"failed with '"$said $API_TOKEN $DB_URL"'"}]}' ;;
	*) continue ;;
	esac
	printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$r"
done
`

// TestACanaryOfAnMCPServer: literals in its configuration, and what it says of them.
func TestACanaryOfAnMCPServer(t *testing.T) {
	t.Parallel()
	needs(t, "sed", "tr", "cat")
	secrets := flock()
	p := newPlace(t)
	h := p.look(secrets...)
	h.theirs = append(h.theirs, "mcp-servers.json")
	script := p.write("server.sh", fakeServer)
	p.write("said", strings.Join(secrets, "\n"))
	entry := func(env string) string {
		return fmt.Sprintf(`{"command":"sh","args":[%q,"said","--api-key","%s","postgres://a:%s@h/d"],"env":{%s}}`, script, secrets[18], secrets[19], env)
	}
	var env []string
	for i, secret := range secrets[2:18] {
		value := []string{secret, "postgres://me:" + secret + "@h/db", "me:" + secret + "@tcp(h)/db", "Server=h;Password=" + secret}[i%4]
		name := []string{"X%d_TOKEN", "X%d_URL", "X%d_DSN", "X%d_DB"}[i%4]
		env = append(env, fmt.Sprintf("%q:%q", fmt.Sprintf(name, i), value))
	}
	env = append(env, fmt.Sprintf(`"API_TOKEN":%q,"DB_URL":"postgres://me:%s@h/db"`, secrets[0], secrets[1]))
	p.write("home/mcp-servers.json", `{"mcpServers":{"f":`+entry(strings.Join(env, ","))+`}}`)
	sync := h.ask("", "pflow-sync", "sync", "f", "--log-level", "debug")
	if sync.exit != 0 || !strings.Contains(p.read("home/registry.json"), "<redacted>") {
		t.Errorf("%s: %s", sync, p.read("home/registry.json"))
	}
	for _, format := range []string{"json", "text"} {
		if o := h.ask("", "pflow-sync", "call", "f", "say", "--format", format, "--log-level", "debug"); o.exit != 0 || !strings.Contains(o.stdout, "<redacted>") {
			t.Error(o)
		}
		if o := h.ask("", "pflow-sync", "call", "f", "fail", "--format", format, "--log-level", "debug"); o.exit != 1 || !strings.Contains(o.stdout+o.stderr, "<redacted>") {
			t.Error(o)
		}
		for _, command := range []string{"pflow-sync call f none", "pflow-sync list", "pflow-sync tools", "pflow-lib search say", "pflow-lib describe mcp-f-say"} {
			words := append(strings.Fields(command), "--format", format)
			h.ask("", words[0], words[1:]...)
		}
	}
	for _, tool := range []string{"say", "fail", "none"} {
		for _, argument := range []string{"x=https://me:§@h/", "x=https://h/?key=§", "x=postgres://me:§@h/db"} {
			secret := random(false)
			h.add(secret)
			h.ask("", "pflow-sync", "call", "f", tool, strings.ReplaceAll(argument, "§", secret), "--log-level", "debug")
		}
	}
	p.draft("telling", `{"nodes":[{"id":"a","type":"mcp-f-say"},{"id":"b","type":"mcp-f-fail"},{"id":"c","type":"echo","params":{"message":"${a.result}"}}]}`)
	if o := h.ask("", "pflow-exec", "run", "telling", "--keep-going", "--log-level", "debug"); o.exit != 1 || strings.Count(o.stdout, "<redacted>") < 3 {
		t.Error(o)
	}
	h.everywhere()
}

// TestACanaryInAnOldRegistry: a description from before it was redacted.
func TestACanaryInAnOldRegistry(t *testing.T) {
	t.Parallel()
	secrets := flock()
	p := newPlace(t)
	h := p.look(secrets...)
	var urls []string
	for _, secret := range secrets[1:] {
		urls = append(urls, "http://me:"+secret+"@h/")
	}
	p.env = append(p.env, "MY_TOKEN="+secrets[0])
	p.write("home/registry.json", fmt.Sprintf(`{"version":"1.0.0","nodes":{"mcp-f-say":{"class_name":"MCPNode","interface":{"description":%q,"mcp_metadata":{"server":"f","tool":"say"}}}}}`,
		"says "+secrets[0]+" "+strings.Join(urls, " ")))
	for _, command := range []string{"pflow-lib search says", "pflow-lib search says --format text", "pflow-lib describe mcp-f-say", "pflow-lib describe mcp-f-say --format text", "pflow-sync tools", "pflow-sync tools --format text"} {
		words := strings.Fields(command)
		if o := h.ask("", words[0], words[1:]...); o.exit != 0 || !strings.Contains(o.stdout, "<redacted>") {
			t.Errorf("%s: %s", command, o)
		}
	}
}
