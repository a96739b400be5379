package veloflux

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"pgregory.net/rapid"
)

// namedRoutes are the requests with a name in their path.
var namedRoutes = []struct {
	name, method, prefix, suffix string
	call                         func(context.Context, *Manager, string) error
}{
	{"DescribeStream", "GET", "/streams/describe/", "", func(ctx context.Context, m *Manager, name string) error {
		_, err := m.DescribeStream(ctx, name)
		return err
	}},
	{"DescribeFunction", "GET", "/functions/describe/", "", func(ctx context.Context, m *Manager, name string) error {
		_, err := m.DescribeFunction(ctx, name)
		return err
	}},
	{"Pipeline", "GET", "/pipelines/", "", func(ctx context.Context, m *Manager, name string) error {
		_, err := m.Pipeline(ctx, name)
		return err
	}},
	{"PipelineStats", "GET", "/pipelines/", "/stats?timeout_ms=1500", func(ctx context.Context, m *Manager, name string) error {
		_, err := m.PipelineStats(ctx, name, 1500*time.Millisecond)
		return err
	}},
	{"Explain", "GET", "/pipelines/", "/explain", func(ctx context.Context, m *Manager, name string) error {
		_, err := m.Explain(ctx, name)
		return err
	}},
	{"DeletePipeline", "DELETE", "/pipelines/", "", func(ctx context.Context, m *Manager, name string) error {
		return m.DeletePipeline(ctx, name)
	}},
}

// refusedNames lead to other routes or are invalid.
func refusedNames() []string {
	names := []string{
		"", " ", "\t", "   ", "\u3000", "\u00a0 ", "\n",
		".", "..", "./", "../", "/.", "/..", "a/.", "a/..", "./a", "../a", "a/./b", "a/../b", "a/../../b", "//..//", "/../", "..//a",
		"../streams/victim", "../../streams/victim", "../pipelines", "../../../../etc/passwd", "x/../../streams/y", "..?a", "..#a", "..;", "..;/x", "a/.;b=c/d", "..%3Fa", "%2e%2e%3b/x", "x/..?a=b",
		`..\`, `\..`, `a\..\b`, `..\streams\victim`, `a/..\b`, `a\../b`, `.\a`, `\.`, `..\..\..`, `C:\..\x`,
		"%2e", "%2e%2e", "%2E%2E", ".%2e", "%2e.", "%2E.", "%2e%2e%2f", "%2e%2e/a", "..%2fa", "..%2Fstreams%2Fvictim", "a%2f..%2fb", "%2e%2e%5ca", `..%5Ca`,
		"a%2F%2E%2E%2Fb",
		"..%2f%zz", "%zz/%2e%2e/x", "%2e%2e%2f%", "a%5c%2e%2e%5cb",
		"a\x00b", "\x00", "..\x00", "a\nb", "a\rb", "a\r\nHost: evil", "\x1b[31m", "a\x7fb", "a\u0085b", "a\u009fb", "tab\there",
		"a/%2e", "%2e/a", "./.", "../..", `\\..\\..`, "..//", "/./", "%2f..", "%5c..", "..%00/..", "中/..",
		"a\xffb", "\xc0\xae\xc0\xae", "\xed\xa0\x80", "\xf8\x88\x80\x80\x80", "中\xe4", "\x80",
		"/a", "a/", "/", "//", "a//b", "///", `\`, `\a`, `a\`, `a\\b`, `a/\b`, "%2F", "%2f%2f", "%2Fa", "a%2f", "a%5C", "/p1/", "http://evil/", "//evil/x", "b/;..", "a/?x", "a/#",
	}
	for range 3 {
		names = append(names, strings.Repeat("../", len(names)))
	}
	return names
}

// goodNames look strange but are valid.
func goodNames() []string {
	return []string{
		"p1", "a.b", ".hidden", "...", "a..b", "..a", "a..", "....", "v1.2.3", "a/b", "a/b/c", "a/ /b", `a\b`, `C:\x`, "a%2Fb", "a/b c?#%中", " pad ", "trailing ", " leading",
		"%", "%%", "%2", "%zz", "%25", "%2500", "%00", "%0a", "%0d%0aHost:evil", "100%", "a%20b", "a+b", "a b", "%E4%B8%AD", "%c0%ae%c0%ae", "a%252Fb", "%u002e%u002e",
		"?", "#", "?a=b", "#frag", "a?timeout_ms=1", "a#b", "a&b=c", "a;b", "a;..", ";", ":", "a:b", "http:evil", "@", "user@host", "$", "!", "*", "'", `"`, "(", ")", "<script>", "{id}", "[1]", "|", "^", "`", "~", "~root",
		"中文", "流/管道", "日本語", "한국어", "עברית", "e\u0301", "ñ", "😀", "👩‍👩‍👧‍👦", "\u202eabc", "\u200b", "\ufeff", "\ufffd", "a\ufffdb", "\u2024\u2024", "．．", "。", "∕", "＼",
		"null", "undefined", "-", "--", "stats", "explain", "describe", "start", "buildContext", "a/statistics", "a/explain/b", "a-stats", "a/stats ", strings.Repeat("a", 5000), strings.Repeat("中/", 500) + "中", strings.Repeat("%25", 300),
		// Names that lead elsewhere only where a path is decoded twice before it comes to the Manager, and names that end in a route.
		"..%2523", "%252e%252e", "%252e", "..%252fa", "%252e%252e%252fa", "..%255ca", "a%252f..", "%25252e%25252e", "..%25252fa", "%2525252e%2525252e%2525252f", "%%32%65%%32%65", "%2%65%2%65", "%25%32%65%25%32%65", "%%32e%%32e/x", "%252F", "a%252f%25252fb", "%%32%66a", "a%25%32%46",
		"p1/explain", "p1/stats", "p1/start", "p1/stop", "p1/buildContext", `p1\explain`, "p1%2Fexplain", "shared/stats", "x/shared/stats", "p1/stats?a=b",
		"__nl2pipeline_tmp__0123", "veh data/中文?#%", "a=b", "a,b", "1", "0", "-1", "true",
	}
}

// requestLog records the requests to a server.
type requestLog struct {
	mu   sync.Mutex
	list []string
}

func (l *requestLog) add(r *http.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, r.Method+" "+r.RequestURI)
}

// take returns the recorded requests and empties the log.
func (l *requestLog) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := l.list
	l.list = nil
	return list
}

// escape matches one percent-encoded byte.
var escape = regexp.MustCompile(`%[0-9a-fA-F]{2}`)

// unescaped returns a path decoded once, as a proxy sees it that takes \ for a slash.
func unescaped(p string) string {
	p = escape.ReplaceAllStringFunc(p, func(s string) string {
		text, _ := url.PathUnescape(s)
		return text
	})
	return strings.ReplaceAll(p, `\`, "/")
}

// mostEager returns the path that the Manager sees behind such a proxy, if it decodes the path too, without parameters, query
// and fragment.
func mostEager(p string) string {
	segments := strings.Split(unescaped(unescaped(p)), "/")
	for i, segment := range segments {
		segments[i] = segment[:strings.IndexAny(segment+";", ";?#")]
	}
	return path.Clean(strings.Join(segments, "/"))
}

// oneSegment returns what is wrong with a name in the path of a request, or "".
func oneSegment(uri, prefix, suffix, name string) string {
	at, ok := strings.CutPrefix(uri, prefix)
	if ok {
		at, ok = strings.CutSuffix(at, suffix)
	}
	if !ok || strings.ContainsAny(at, "/?#") {
		return "it is not one segment"
	}
	if once, err := url.PathUnescape(at); err != nil || once != name {
		return fmt.Sprintf("it decodes to %q, %v", once, err)
	}
	whole, _, _ := strings.Cut(uri, "?")
	if clean := mostEager(whole) + "/"; !strings.HasPrefix(clean, prefix) {
		return "decoded and cleaned it is " + clean
	}
	return ""
}

func TestNamesStayInTheirRoute(t *testing.T) {
	bad, good := refusedNames(), goodNames()
	if len(bad) < 100 || len(good) < 100 {
		t.Fatalf("%d names that are refused and %d that are not are too few", len(bad), len(good))
	}
	var log requestLog
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		log.add(r)
		_, _ = w.Write([]byte("{}"))
	}))
	t.Cleanup(s.Close)
	for _, base := range []string{"", "/velo/base"} {
		m := managerFor(t, Config{URL: s.URL + base})
		for _, route := range namedRoutes {
			for _, name := range bad {
				err := route.call(t.Context(), m, name)
				if e := failureOf(t, err); e.Code != CodeInvalidParams || len(e.Message) > 400 || len(log.take()) != 0 {
					t.Errorf("%s %q: %v", route.name, name, err)
				}
			}
			for _, name := range good {
				_ = route.call(t.Context(), m, name) // the answer is not what each route wants
				seen := log.take()
				if len(seen) != 1 || !strings.HasPrefix(seen[0], route.method+" ") {
					t.Errorf("%s %q: the Manager saw %q", route.name, name, seen)
					continue
				}
				if wrong := oneSegment(strings.TrimPrefix(seen[0], route.method+" "), base+route.prefix, route.suffix, name); wrong != "" {
					t.Errorf("%s %q: %s: %s", route.name, name, seen[0], wrong)
				}
			}
		}
	}
}

func TestNoPipelineIsCreatedThatCannotBeNamed(t *testing.T) {
	m := managerFor(t, Config{URL: "http://127.0.0.1:1"})
	for _, id := range []string{"..", "../x", "%2e%2e", "", "\u0000", `a\\..`} {
		_, err := m.CreatePipeline(t.Context(), []byte(`{"sql":"SELECT 1","id":"`+strings.ReplaceAll(id, "\x00", `\u0000`)+`"}`))
		if e := failureOf(t, err); e.Code != CodeInvalidParams {
			t.Errorf("%q: %v", id, err)
		}
	}
}

func TestSegmentsOfAnyName(t *testing.T) {
	parts := rapid.SampledFrom([]string{".", "..", "/", `\`, "%", "2", "e", "E", "5", "c", "f", "F", "%2e", "%2f", "%25", "a", " ", ";", "?", "#", "中", "stats", "/stop"})
	rapid.Check(t, func(t *rapid.T) {
		name := strings.Join(rapid.SliceOf(parts).Draw(t, "parts"), "")
		at, err := segment(pipelineKind, name)
		if err == nil {
			if wrong := oneSegment("/pipelines/"+at+"/stats", "/pipelines/", "/stats", name); wrong != "" {
				t.Fatalf("%q is sent as %s: %s", name, at, wrong)
			}
			return
		}
		// Harmless names are not refused.
		if strings.TrimSpace(name) != "" && !strings.Contains(unescaped(name), ".") && !strings.Contains(unescaped(name), "/") && !strings.ContainsFunc(unescaped(name), unicode.IsControl) {
			t.Fatalf("%q is refused: %v", name, err)
		}
	})
}

func FuzzSegment(f *testing.F) {
	for _, name := range append(refusedNames(), goodNames()...) {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		at, err := segment(streamKind, name)
		if err != nil {
			return
		}
		if wrong := oneSegment("/streams/describe/"+at, "/streams/describe/", "", name); wrong != "" {
			t.Errorf("%q is sent as %s: %s", name, at, wrong)
		}
	})
}
