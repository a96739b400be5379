package suite

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	threads "sync"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/internal/authserver"
)

// browse is a variable that makes the test's own program a browser, which opens its last argument.
const browse = "PFLOW_TEST_BROWSE"

// visit follows a URL to where it leads, and returns an exit status.
func visit(url string) int {
	resp, err := http.Get(url)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	_ = resp.Body.Close()
	return 0
}

// guarded configures an MCP server that wants a login, and a browser in which one agrees at once.
func (p *place) guarded(name string) *authserver.Server {
	p.Helper()
	s := authserver.Start(p, "/mcp")
	self, err := os.Executable()
	if err != nil {
		p.Fatal(err)
	}
	p.env = append(p.env, "BROWSER=env "+browse+"=yes "+self)
	p.must("pflow-sync", "add", name, s.URL)
	return s
}

// noTokens fails the test if a file of the home, except for the logins, has a token.
func (p *place) noTokens() {
	p.Helper()
	token := regexp.MustCompile(`(access|refresh)-\d+-of-the-test`)
	err := filepath.WalkDir(p.home, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if found := token.Find(b); found != nil && filepath.Base(filepath.Dir(path)) != "logins" {
			p.Errorf("%s has the token %s", path, found)
		}
		return err
	})
	if err != nil {
		p.Error(err)
	}
}

// whoami is a workflow that calls the server's tool so many times, after nodes of other types.
func whoami(calls int, nodes ...string) string {
	for i := range calls {
		nodes = append(nodes, fmt.Sprintf(`{"id":"n%d","type":"mcp-web-whoami"}`, i))
	}
	return `{"nodes":[` + strings.Join(nodes, ",") + `]}`
}

func TestLogin(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := p.guarded("web")
	for _, line := range [][]string{{"pflow-sync", "call", "web", "whoami"}, {"pflow-sync", "sync", "web"}, {"pflow-sync", "doctor", "web"}} {
		if o := p.run(line[0], line[1:]...); o.exit != 1 || !strings.Contains(o.stdout, "pflow-sync login web") || !strings.Contains(o.stdout, `"http_status":401`) {
			t.Errorf("%q without a login: %s", line, o)
		}
	}
	o := p.run("pflow-sync", "login", "web")
	if o.exit != 0 || gjson.Get(o.stdout, "issuer").Str != s.Issuer || !gjson.Get(o.stdout, "renewable").Bool() || gjson.Get(o.stdout, "scopes.0").Str != "tools" {
		t.Fatalf("login: %s", o)
	}
	if strings.Contains(o.stdout+o.stderr, "access-") || strings.Contains(o.stdout+o.stderr, "refresh-") {
		t.Errorf("a token is shown: %s", o)
	}
	if info, err := os.Stat(p.home + "/logins/web.json"); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	p.must("pflow-sync", "sync", "web")
	for _, command := range []string{"list", "doctor"} {
		if out := p.must("pflow-sync", command); gjson.Get(out, "login").Str != "active" {
			t.Errorf("%s: %s", command, out)
		}
	}

	s.Change(func(s *authserver.Server) { s.OneCall = true }) // a 401 in the middle of each run
	p.write("w.json", whoami(3, `{"id":"peek","type":"shell","params":{"command":"cat home/logins/web.json"}}`))
	out := p.must("pflow-exec", "run", "w.json", "--format", "json", "--jobs", "1")
	if n := s.Count("POST /token refresh_token"); n < 2 || !strings.Contains(out, "you are known") || !strings.Contains(out, "access_token") {
		t.Errorf("%d renewals: %s", n, out)
	}
	p.must("pflow-exec", "show", "last")
	p.noTokens()
	s.Change(func(s *authserver.Server) { s.OneCall = false })

	s.EndLogins()
	for range 2 {
		if o := p.run("pflow-exec", "run", "w.json", "--format", "json"); o.exit != 1 || !strings.Contains(o.stdout, "pflow-sync login web") {
			t.Errorf("after the end of the login: %s", o)
		}
	}
	if out := p.must("pflow-sync", "list"); gjson.Get(out, "login").Str != "expired" {
		t.Errorf("list: %s", out)
	}
	p.must("pflow-sync", "login", "web")
	p.must("pflow-exec", "run", "w.json")
	p.must("pflow-sync", "remove", "web")
	if p.exists("home/logins/web.json") {
		t.Error("remove leaves the login")
	}
}

// TestTokensGoToTheirServerOnly has a server at another URL, and one to which the first redirects, look at what they get.
func TestTokensGoToTheirServerOnly(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := p.guarded("web")
	p.must("pflow-sync", "login", "web")
	var seen threads.Map
	other := authserver.Start(t, "/mcp")
	other.Change(func(o *authserver.Server) {
		o.Handlers["/mcp"] = func(w http.ResponseWriter, r *http.Request) {
			seen.Store(r.Header.Get("Authorization"), true)
			w.WriteHeader(http.StatusUnauthorized)
		}
	})
	s.Change(func(s *authserver.Server) {
		s.Handlers["/mcp"] = func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		}
	})
	p.fails(1, "401", "pflow-sync", "call", "web", "whoami")
	p.must("pflow-sync", "add", "--force", "web", other.URL)
	p.fails(1, "pflow-sync login web", "pflow-sync", "call", "web", "whoami")
	if out := p.must("pflow-sync", "list"); gjson.Get(out, "login").Exists() {
		t.Errorf("list: %s", out)
	}
	seen.Range(func(header, _ any) bool {
		if header != "" {
			t.Errorf("the other server got %q", header)
		}
		return true
	})
	if other.Count("POST /mcp") < 2 {
		t.Errorf("%q", other.Requests())
	}
	p.must("pflow-sync", "add", "--force", "web", other.URL, "--header", "Authorization: Bearer ${TOKEN:-own}")
	p.fails(2, "Authorization header", "pflow-sync", "login", "web")
}

func TestALoginWithTooFewScopes(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := p.guarded("web")
	p.must("pflow-sync", "login", "web")
	s.Change(func(s *authserver.Server) { s.Scope = "files:write" })
	o := p.fails(1, `"http_status":403`, "pflow-sync", "call", "web", "whoami")
	if !strings.Contains(o.stdout, "pflow-sync login web --scope 'files:write tools'") {
		t.Errorf("the command is not shown: %s", o)
	}
	p.must("pflow-sync", "login", "web", "--scope", "files:write tools")
	p.must("pflow-sync", "call", "web", "whoami")
	p.must("pflow-sync", "login", "web") // a permission is not lost
	p.must("pflow-sync", "call", "web", "whoami")
	s.Change(func(s *authserver.Server) { s.Scope = "'; touch /tmp/x; '" })
	if o := p.fails(1, `"http_status":403`, "pflow-sync", "call", "web", "whoami"); strings.Contains(gjson.Get(o.stdout, "error.suggestions").Raw, "touch") {
		t.Errorf("a command of the server is shown: %s", o)
	}
}

// TestRunsRenewALoginTogether starts runs at the same time that all find an expired token. The server reports a refresh token that
// is used twice.
func TestRunsRenewALoginTogether(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := p.guarded("web")
	p.must("pflow-sync", "login", "web")
	p.must("pflow-sync", "sync", "web")
	p.write("w.json", whoami(3))
	for round := 1; round <= 3; round++ {
		s.EndAccess()
		var runs threads.WaitGroup
		for range 4 {
			runs.Go(func() {
				if o := p.run("pflow-exec", "run", "w.json", "--format", "json"); o.exit != 0 {
					t.Errorf("%s", o)
				}
			})
		}
		runs.Wait()
		if n := s.Count("POST /token refresh_token"); n != round {
			t.Fatalf("%d renewals in round %d", n, round)
		}
	}
	p.noTokens()
}

// TestAnUnansweredLogin ends by time and by a signal, and leaves no login.
func TestAnUnansweredLogin(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.guarded("web")
	o := p.run("pflow-sync", "login", "web", "--no-browser", "--timeout", "3")
	if o.exit != 124 || gjson.Get(o.stdout, "error.type").Str != "timeout" || !strings.Contains(o.stderr, "/authorize?") {
		t.Errorf("%s", o)
	}
	cmd := p.command("pflow-sync", "login", "web", "--no-browser")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	shown := bufio.NewScanner(stderr)
	for shown.Scan() && !strings.HasPrefix(shown.Text(), "http") {
	}
	_ = cmd.Process.Signal(syscall.SIGINT)
	_, _ = io.Copy(io.Discard, stderr)
	if _ = cmd.Wait(); cmd.ProcessState.ExitCode() != 130 {
		t.Errorf("%v", cmd.ProcessState)
	}
	if p.exists("home/logins/web.json") {
		t.Error("there is a login")
	}
}

// TestAPastedLogin pastes the URL at which a browser on another machine ends.
func TestAPastedLogin(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.guarded("web")
	cmd := p.command("pflow-sync", "login", "web", "--no-browser", "--format", "json")
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = terminal.Close() }()
	shown := bufio.NewScanner(terminal)
	url := ""
	for url == "" && shown.Scan() {
		if strings.HasPrefix(shown.Text(), "http") {
			url = strings.TrimSpace(shown.Text())
		}
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	_, _ = io.WriteString(terminal, "nonsense\n"+resp.Header.Get("Location")+"\n")
	rest := ""
	for shown.Scan() {
		rest += shown.Text() + "\n"
	}
	if cmd.Wait() != nil || !strings.Contains(rest, `"server":"web"`) {
		t.Errorf("%s", rest)
	}
	p.must("pflow-sync", "call", "web", "whoami")
}
