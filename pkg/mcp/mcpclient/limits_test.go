package mcpclient

import (
	"context"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// The timeout of an entry bounds the start too, also if it is shorter than the default.
func TestTheTimeoutOfTheEntryBoundsTheStart(t *testing.T) {
	spec := fakeSpec(t, "silent")
	spec.Server.Timeout = 0.3
	_, err := Connect(t.Context(), spec)
	if f := asFault(t, err); f.Type != fault.Timeout || f.Message != "MCP server fake did not start within 0.3 seconds" {
		t.Errorf("fault is %s %q", f.Type, f.Message)
	}
	for seconds, want := range map[float64]time.Duration{0: DefaultStartTimeout, 5: 5 * time.Second, 90: 90 * time.Second} {
		if got := (Server{Timeout: seconds}).timeout(DefaultStartTimeout); got != want {
			t.Errorf("a timeout of %v bounds the start to %v, want %v", seconds, got, want)
		}
	}
}

// rootsServer has a tool that returns the roots of the client.
func rootsServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "fake", Version: "1"}, nil)
	s.AddTool(&mcp.Tool{Name: "roots", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		roots, err := req.Session.ListRoots(ctx, nil) //nolint:staticcheck // servers of today use them
		if err != nil {
			return nil, err
		}
		return &mcp.CallToolResult{StructuredContent: roots}, nil
	})
	return s
}

// A server gets the working directory as its root, and the folders that its arguments name.
func TestRoots(t *testing.T) {
	dir, other := t.TempDir(), filepath.Join(t.TempDir(), "ö x")
	if err := os.Mkdir(other, 0o700); err != nil {
		t.Fatal(err)
	}
	roots := func(dir string, args ...string) []string {
		t.Helper()
		spec := fakeSpec(t, "roots")
		spec.Dir, spec.Server.Args = dir, args
		s, err := Connect(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		answer, err := s.Call(t.Context(), "roots", json.RawMessage("{}"), nil)
		if err != nil {
			return nil
		}
		var folders []string
		for _, uri := range gjson.GetBytes(answer.Structured, "roots.#.uri").Array() {
			at, err := url.Parse(uri.Str)
			if err != nil || at.Scheme != "file" {
				t.Errorf("%s: %v", uri.Str, err)
				continue
			}
			folders = append(folders, at.Path)
		}
		slices.Sort(folders)
		return folders
	}
	for _, c := range []struct {
		args, want []string
	}{
		{nil, []string{dir}},
		{[]string{other, dir, "relative", "/no/such/folder", "--flag"}, []string{dir, other}},
	} {
		slices.Sort(c.want)
		if got := roots(dir, c.args...); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.args, got, c.want)
		}
	}
	if got := roots(""); got != nil {
		t.Errorf("without a working directory: %q", got)
	}
}

// A list that does not end is refused.
func TestAnEndlessListOfTools(t *testing.T) {
	for _, mode := range []string{"endless", "endless empty"} {
		_, err := connect(t, mode).Tools(t.Context())
		if f := asFault(t, err); f.Type != fault.TooLarge {
			t.Errorf("%s: got %+v, want a fault of type %s", mode, f, fault.TooLarge)
		}
	}
}
