package suite

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/internal/cases"
	"github.com/pflow-suite/pflow/internal/llmserver"
	"github.com/pflow-suite/pflow/internal/webserver"
)

// TestCases runs every case of test/cases in a home and a folder of its own.
func TestCases(t *testing.T) {
	all, err := cases.Read(filepath.Join("..", "cases"))
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Fatal("there are no cases")
	}
	servers := caseServers(t)
	for _, c := range all {
		t.Run(c.Name, func(t *testing.T) {
			besideOthers(t, &c)
			needs(t, c.Needs...)
			runCase(newPlace(t), &c, servers)
		})
	}
}

// besideOthers lets the case run at the same time as others, if its time limits allow that.
func besideOthers(t *testing.T, c *cases.Case) {
	t.Helper()
	if !c.Timed {
		t.Parallel()
	}
}

func runCase(p *place, c *cases.Case, servers []string) {
	p.Helper()
	args := append([]string{"run", "--format", "ndjson"}, p.setUp(c, servers)...)
	var o outcome
	if c.Stdin == nil {
		o = p.run("pflow-exec", args...)
	} else {
		o = p.fed(*c.Stdin, "pflow-exec", args...)
	}
	checkCase(p, c, o)
}

// setUp writes what a case needs, and returns the arguments with which it runs.
func (p *place) setUp(c *cases.Case, servers []string) []string {
	p.Helper()
	for name, content := range c.Files {
		p.write(filepath.Join("work", name), content)
	}
	p.write("work/workflow.json", string(c.Workflow))
	if c.Settings != nil && string(c.Settings) != "null" {
		p.write("home/settings.json", string(c.Settings))
	}
	p.env = append(p.env, servers...)
	for k, v := range c.Env {
		p.env = append(p.env, k+"="+v)
	}
	return append([]string{"-C", filepath.Join(p.dir, "work"), filepath.Join(p.dir, "work", "workflow.json")}, c.Args...)
}

// checkCase checks how a case has ended.
func checkCase(p *place, c *cases.Case, o outcome) {
	p.Helper()
	lines := strings.Split(strings.TrimSpace(o.stdout), "\n")
	last := gjson.Parse(lines[len(lines)-1])
	if !slices.Contains(c.Expect.Exit, o.exit) {
		p.Errorf("exit status %d, want %v", o.exit, c.Expect.Exit)
	}
	if want := c.Expect.Status; want != "" && last.Get("status").Str != want {
		p.Errorf("status %q, want %q", last.Get("status").Str, want)
	}
	if want := c.Expect.Outputs; want != nil && string(want) != "null" {
		if why := cases.Missing(want, json.RawMessage(last.Get("outputs").Raw)); why != "" {
			p.Error(why)
		}
	}
	for _, want := range c.Expect.ErrorContains {
		if said := last.Get("error").Raw; !strings.Contains(unescaped(said), want) {
			p.Errorf("the error does not say %q: %s", want, said)
		}
	}
	for name, want := range c.Expect.Files {
		if b, err := os.ReadFile(filepath.Join(p.dir, "work", name)); err != nil || string(b) != want {
			p.Errorf("%s holds %q (%v), want %q", name, b, err, want)
		}
	}
	if p.Failed() {
		p.Logf("%s", o)
	}
}

// unescaped returns JSON text with plain quotes, so that a case can contain a part of a message.
func unescaped(raw string) string { return strings.ReplaceAll(raw, `\"`, `"`) }

// caseServers starts the servers of the cases and returns the variables with their addresses.
func caseServers(t *testing.T) []string {
	t.Helper()
	web, models := webserver.Start(t), llmserver.Start(t)
	return []string{
		"CASE_HTTP=" + web.URL, "CASE_HTTPS=" + web.TLSURL, "CASE_CA=" + web.CAFile, "CASE_PROXY=" + web.ProxyURL,
		"CASE_MTLS=" + web.MutualURL, "CASE_CLIENT_CERT=" + web.ClientCert, "CASE_CLIENT_KEY=" + web.ClientKey, "CASE_LLM=" + models.URL,
	}
}
