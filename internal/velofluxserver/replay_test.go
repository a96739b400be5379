package velofluxserver_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pflow-suite/pflow/internal/velofluxserver"
)

// unknown are the exchanges that the fake Manager does not support, with the reasons.
func unknown(name string) string {
	switch {
	case name == "export":
		return "storage has no archive here"
	case name == "metrics":
		return "nothing is measured here"
	case name == "buildcontext":
		return "the route is left out"
	case strings.HasPrefix(name, "mqtt-client"):
		return "there are no shared MQTT clients here"
	}
	return ""
}

// shaped are the exchanges for which the fake Manager has other bodies.
func shaped(name string) bool {
	switch name {
	case "functions", "functions-describe", "functions-describe-case", "syntax", "stats-running", "badsql-unknown-function":
		return true
	}
	return false
}

func TestReplay(t *testing.T) {
	recorded := velofluxserver.Recorded(t)
	s := velofluxserver.Start(t)
	s.Clear()
	for _, e := range recorded { // each depends on those before it
		if unknown(e.Name) != "" {
			continue
		}
		replay(t, s, &e)
	}
}

// shortened is the mark of a recording for a body that was longer.
var shortened = regexp.MustCompile(`\.\.\.<(\d+) bytes>$`)

func replay(t *testing.T, s *velofluxserver.Server, e *velofluxserver.Exchange) {
	t.Helper()
	body := ""
	if e.Request.Body != nil {
		body = *e.Request.Body
	}
	if m := shortened.FindStringSubmatch(body); m != nil {
		length, _ := strconv.Atoi(m[1])
		body = strings.TrimSuffix(body, m[0])
		body += strings.Repeat("x", length-len(body))
	}
	request := httptest.NewRequest(e.Request.Method, s.URL+e.Request.Path, strings.NewReader(body))
	request.RequestURI = ""
	for name, value := range e.Request.Headers {
		request.Header.Set(name, value)
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		t.Fatalf("%s: %v", e.Name, err)
	}
	defer func() { _ = response.Body.Close() }()
	got, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("%s: %v", e.Name, err)
	}
	if response.StatusCode != e.Response.Status {
		t.Errorf("%s: %d, not %d: %s", e.Name, response.StatusCode, e.Response.Status, got)
		return
	}
	compareHeaders(t, e, response.Header)
	if !shaped(e.Name) {
		if diff := cmp.Diff(stable(e.Response.Body), stable(string(got))); diff != "" {
			t.Errorf("%s: -recorded +got:\n%s", e.Name, diff)
		}
		return
	}
	compareShapes(t, e.Name, e.Response.Body, string(got))
}

// stable removes from a body what differs each time.
func stable(body string) string {
	return regexp.MustCompile(`"created_at_secs":\d+`).ReplaceAllString(body, `"created_at_secs":0`)
}

func compareHeaders(t *testing.T, e *velofluxserver.Exchange, got http.Header) {
	t.Helper()
	for _, name := range []string{
		"content-type", "allow", "vary", "access-control-allow-origin", "access-control-expose-headers", "access-control-allow-methods", "access-control-allow-headers",
	} {
		if got.Get(name) != e.Response.Headers[name] {
			t.Errorf("%s: %s is %q, not %q", e.Name, name, got.Get(name), e.Response.Headers[name])
		}
	}
	if length := e.Response.Headers["content-length"]; !shaped(e.Name) && e.Name != "head-streams" && got.Get("content-length") != length {
		t.Errorf("%s: content-length is %q, not %q", e.Name, got.Get("content-length"), length)
	}
}

// compareShapes compares the names and the kinds of values.
func compareShapes(t *testing.T, name, recorded, got string) {
	t.Helper()
	var want, have any
	if json.Unmarshal([]byte(recorded), &want) != nil {
		prefix, _, _ := strings.Cut(recorded, "[")
		if !strings.HasPrefix(got, prefix) {
			t.Errorf("%s: %s does not begin with %s", name, got, prefix)
		}
		return
	}
	if err := json.Unmarshal([]byte(got), &have); err != nil {
		t.Errorf("%s: %v: %s", name, err, got)
		return
	}
	wanted, had := map[string]bool{}, map[string]bool{}
	paths(want, "", wanted)
	paths(have, "", had)
	for path := range had {
		if !wanted[path] {
			t.Errorf("%s: the Manager has nothing like %s", name, path)
		}
	}
	for path := range wanted {
		if !had[path] && !rare(path) {
			t.Errorf("%s: there is no %s", name, path)
		}
	}
}

// rare are paths that only some of the real functions have.
func rare(path string) bool {
	return strings.Contains(path, "element") || strings.Contains(path, "type.fields")
}

// paths records the paths in a value, with * for each index, and the kinds of their values.
func paths(v any, at string, into map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		into[at+"{}"] = true
		for name, value := range v {
			paths(value, at+"."+name, into)
		}
	case []any:
		into[at+"[]"] = true
		for _, value := range v {
			paths(value, at+"[*]", into)
		}
	case string:
		into[at+":string"] = true
	case float64:
		into[at+":number"] = true
	case bool:
		into[at+":bool"] = true
	case nil:
	}
}
