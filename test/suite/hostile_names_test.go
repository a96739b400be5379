package suite

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/internal/brief"
)

// hostileNames returns names that lead out of a folder if they are used as paths, or do something else than name a thing. Below dir
// are the canaries, which none of them may reach.
func hostileNames(dir string) []string {
	var names []string
	add := func(list ...string) { names = append(names, list...) }
	for depth := range 5 {
		up := strings.Repeat("../", depth+1)
		for _, target := range []string{"canary/secret", "canary/secret.json", "etc/passwd", "home-canary/secret"} {
			add(up+target, "x/"+up+target, "./"+up+target)
		}
	}
	separators := []string{"/", `\`, "%2f", "%2F", "%5c", "%252f", "%c0%af", "\u2215", "\uff0f", "\u29f8", "//", "\x00/"}
	dots := []string{"..", "%2e%2e", "%2E.", "\u2024\u2024", "\uff0e\uff0e", "\u2025", ".\u200b.", "..\u00a0", "...."}
	for _, separator := range separators {
		for _, dot := range dots {
			add(dot + separator + "canary" + separator + "secret")
		}
	}
	for _, path := range []string{dir + "/canary/secret", dir + "/canary/secret.json", dir + "/home/../canary/secret", dir + "/home-canary/secret", "/etc/passwd", "/proc/self/environ", "//etc/passwd", "~/canary/secret", "~root/x", `C:\canary`, `\\host\share`} {
		add(path, "file://"+path, path+"\x00", "\x00"+path, " "+path, "@"+path, "=@"+path)
	}
	add("", " ", ".", "..", "...", "/", "//", `\`, "*", "?", "[a-z]", "{a,b}", "a/b", "a/", "/a", "a\x00b", "a\nb", "a\r\nb", "a\tb", "a\x1b[2J", "a\x7f", "a\u0085b", "a\u2028b", "\u202eevil", "\ufeffa",
		"a\u0301", "ａ", "а", "K", "İ", "ß", "a b", "a--b", "-a", "a-", "A", "a.json", "a.pflow.md", ".hidden", "a.", "con", "nul", "aux", "lpt1",
		"--help", "--version", "--format=text", "--hints=shell", "--max-bytes=0", "-", "--", "-q", "--name", "--force", "--resume=last", "--inputs=/etc/passwd", "-C/etc", "--log-level=debug",
		"$HOME", "${HOME}", "$(id)", "`id`", "; id", "| cat", "&& id", "> x", "'", `"`, "a'b", "%s%n", "%00", "%", "%zz", "{{x}}", "${x}",
		"http://127.0.0.1:1/", "https://user:pass@127.0.0.1:1/x", "pflow://workflows/../../canary/secret", "data:,x", "javascript:x", "ftp://127.0.0.1:1/", "sqlite:x", "mcp-../x-y", "mcp-a/b-c", "mcp-gone-../../canary",
		"link-absolute", "link-relative", "link-saved", "link-folder", "link-folder/secret", "link-loop", "link-bundle", "r01link", "r01link/events", "last/../..", "registry", "settings", "../settings", "../registry.json",
		strings.Repeat("a", 51), strings.Repeat("a", 256), strings.Repeat("a", 5000), strings.Repeat("../", 2000), strings.Repeat("%2e%2e%2f", 500), strings.Repeat("é", 3000), strings.Repeat("a-", 200)+"a")
	slices.Sort(names)
	return slices.Compact(names)
}

// nameProperty finds the arguments of tools that name something.
var nameProperty = regexp.MustCompile(`^(name|draft_name|final_name|type|server|servers|tool|resume|uri)$`)

// namesIn returns for each argument of a tool that is a name the arguments of a call, in which NAME stands for the name.
func (c *client) namesIn(tool string) []string {
	c.Helper()
	input := gjson.Get(c.tools[tool].raw, "inputSchema")
	var calls []string
	input.Get("properties").ForEach(func(property, about gjson.Result) bool {
		if !nameProperty.MatchString(property.Str) {
			return true
		}
		arguments := map[string]any{}
		for _, required := range input.Get("required").Array() {
			arguments[required.Str] = "gone"
		}
		arguments[property.Str] = "NAME"
		if about.Get("type").Str == "array" {
			arguments[property.Str] = []string{"NAME"}
		}
		raw, err := json.Marshal(arguments)
		if err != nil {
			c.Fatal(err)
		}
		calls = append(calls, string(raw))
		return true
	})
	return calls
}

// opened returns the files outside of the home, and of the folder of the programs, that processes of a traced session
// opened, with all links resolved, or tried to open by an absolute path.
func opened(trace, home string) map[string]string {
	files := map[string]string{}
	number := regexp.MustCompile(`\d+`)
	note := func(path, line string) {
		if path = filepath.Clean(path); path != home && !strings.HasPrefix(path, home+"/") && !strings.HasPrefix(path, bin+"/") && strings.HasPrefix(path, "/") {
			files[number.ReplaceAllString(path, "N")] = line // those of processes and threads have numbers
		}
	}
	succeeded, asked := regexp.MustCompile(` = \d+<([^>]*)>`), regexp.MustCompile(`"((?:[^"\\]|\\.)*)"`)
	for line := range strings.Lines(trace) {
		if m := succeeded.FindStringSubmatch(line); m != nil {
			note(m[1], line)
			continue
		}
		for _, m := range asked.FindAllStringSubmatch(line, -1) {
			note(m[1], line)
		}
	}
	return files
}

// hostileHome is a place with canaries beside its home, and with symbolic links to them in the home.
func hostileHome(t *testing.T) *place {
	t.Helper()
	p := newPlace(t)
	p.env = append(p.env, "PFLOW_TOOLSETS=core,drafts,servers")
	canary := `{"description":"of-the-canary","nodes":[{"id":"a","type":"echo","params":{"message":"of-the-canary"}}]}`
	for _, name := range []string{"canary/secret.json", "canary/secret", "canary/bundle.json", "home-canary/secret.json", "canary/run/events.ndjson"} {
		p.write(name, canary)
	}
	p.draft("gone", chain("echo hello"))
	p.must("pflow-exec", "run", "gone", "--quiet")
	p.write("home/mcp-servers.json", `{"mcpServers":{"gone":{"command":"no-such-command"}}}`)
	for link, to := range map[string]string{
		"workflows/link-absolute.json": p.dir + "/canary/secret.json", "workflows/link-relative.json": "../../canary/secret.json", "library/link-saved.json": p.dir + "/canary/secret.json",
		"workflows/link-folder": p.dir + "/canary", "workflows/link-loop.json": "link-loop.json", "library/link-bundle": p.dir + "/canary", "runs/r01link": p.dir + "/canary/run",
	} {
		path := filepath.Join(p.home, link)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, path); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// tracing are the arguments with which strace writes trace.txt for opened.
var tracing = []string{
	"-f", "--seccomp-bpf", "-qq", "-y", "-s", "6000", "-e", "signal=none", "-o", "trace.txt",
	"-e", "trace=open,openat,openat2,creat,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,symlink,symlinkat,link,linkat,truncate,chmod",
}

// TestATraceShowsWhatALinkLeadsTo is a control of TestHostileNames: it would see that a link is followed, and a path that is tried.
func TestATraceShowsWhatALinkLeadsTo(t *testing.T) {
	t.Parallel()
	needs(t, "strace", "cat")
	p := hostileHome(t)
	if o := p.run("strace", append(slices.Clone(tracing), "cat", "home/workflows/link-absolute.json", p.dir+"/none")...); o.exit != 1 {
		t.Skipf("strace may not trace here: %s", o)
	}
	found := map[string]bool{}
	for path := range opened(p.read("trace.txt"), p.home) {
		found[filepath.Base(path)] = true
	}
	if !found["secret.json"] || !found["none"] {
		t.Errorf("%v", found)
	}
}

// all sends requests, many at a time, and calls see with each and its answer.
func (c *client) all(requests []func() string, see func(what string, message map[string]any)) {
	c.Helper()
	const window = 16
	for some := range slices.Chunk(requests, window) {
		asked := map[float64]string{}
		for _, request := range some {
			what := request()
			asked[float64(c.id)] = what
		}
		for len(asked) > 0 {
			message := c.receive()
			id, _ := message["id"].(float64)
			if what, ok := asked[id]; ok {
				delete(asked, id)
				see(what, message)
			}
		}
	}
}

// TestHostileNames gives every tool that takes a name, and every resource, names that lead elsewhere. No process of a session opens
// a file that a session with harmless names does not open too, except in the home, and no answer has a path or what is outside.
func TestHostileNames(t *testing.T) {
	brief.Skip(t)
	t.Parallel()
	needs(t, "strace")
	if o := newPlace(t).run("strace", "-f", "--seccomp-bpf", "-o", "trace.txt", "true"); o.exit != 0 {
		t.Skipf("strace may not trace here: %s", o.stderr)
	}
	const each = 25 // names in a session
	if n := len(hostileNames("/x")); n < 300 {
		t.Errorf("only %d names", n)
	}
	n := len(hostileNames("/x"))
	for from := 0; from < n; from += each {
		t.Run(fmt.Sprint(from), func(t *testing.T) {
			t.Parallel()
			p := hostileHome(t)
			known, _ := p.sessionWith([]string{"gone", "fresh", "nothing", "a-b"}, func(string, string, map[string]any) {})
			names := hostileNames(p.dir)
			outside, calls := p.sessionWith(names[from:min(from+each, n)], func(what, name string, message map[string]any) {
				uri, _ := strings.CutPrefix(what, "resource ")
				texts(message, "", func(at, text string) {
					shown := strings.NewReplacer(uri, "", name, "", url.PathEscape(name), "", strings.Trim(quote(name), `"`), "").Replace(text)
					if strings.Contains(shown, p.dir) && !strings.HasSuffix(at, "structuredContent.path") || strings.Contains(shown, "/etc/") || strings.Contains(text, "of-the-canary") {
						t.Errorf("%.200s: %s is %.300s", what, at, text)
					}
				})
			})
			for path, line := range outside {
				if _, ok := known[path]; !ok {
					t.Errorf("%s was opened: %.300s", path, line)
				}
			}
			if calls < 15*min(each, n-from) || len(known) < 5 {
				t.Errorf("%d requests, %d files outside of the home that every session opens", calls, len(known))
			}
		})
	}
}

// sessionWith gives names to all tools and resources, and calls see with each answer. It returns the files outside of the home that
// were opened, and the number of requests.
func (p *place) sessionWith(names []string, see func(what, name string, message map[string]any)) (outside map[string]string, calls int) {
	p.Helper()
	c := p.connect("strace", append(slices.Clone(tracing), filepath.Join(bin, "pflow-serve"))...)
	var requests []func() string
	about := map[string]string{} // the name in each request
	for tool := range c.tools {
		for _, arguments := range c.namesIn(tool) {
			for _, name := range names {
				requests = append(requests, func() string {
					filled := strings.ReplaceAll(arguments, `"NAME"`, quote(name))
					c.request(tool, filled)
					about[tool+" "+filled] = name
					return tool + " " + filled
				})
			}
		}
	}
	for _, form := range []string{"pflow://workflows/%s", "pflow://nodes/%s", "pflow://runs/%s", "pflow://runs/last/outputs/%s", "pflow://runs/last/nodes/%s", "pflow://runs/%s/logs", "%s"} {
		for i, name := range names {
			uri := fmt.Sprintf(form, name)
			if i%2 == 0 {
				uri = fmt.Sprintf(form, url.PathEscape(name))
			}
			requests = append(requests, func() string {
				c.id++
				c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"resources/read","params":{"uri":%s}}`, c.id, quote(uri)))
				about["resource "+uri] = name
				return "resource " + uri
			})
		}
	}
	c.all(requests, func(what string, message map[string]any) { see(what, about[what], message) })
	_ = c.stdin.Close()
	_ = c.cmd.Wait()
	return opened(p.read("trace.txt"), p.home), len(requests)
}
