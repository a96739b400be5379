package mcpclient

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pflow-suite/pflow/pkg/home"
)

func digestOf(tool string) string { return fmt.Sprintf("-%x", sha256.Sum256([]byte(tool)))[:9] }

func TestToolNames(t *testing.T) {
	hashed := func(name, tool string) string { return name + digestOf(tool) }
	for name, c := range map[string]struct {
		server     string
		configured []string
		want       map[string]string
	}{
		"plain":                {"s", nil, map[string]string{"get": "mcp-s-get", "Ünï code!": "mcp-s-n-code"}},
		"one written so":       {"s", nil, map[string]string{"create-issue": "mcp-s-create-issue", "create_issue": hashed("mcp-s-create-issue", "create_issue"), "Create Issue": hashed("mcp-s-create-issue", "Create Issue")}},
		"none written so":      {"s", nil, map[string]string{"create_issue": hashed("mcp-s-create-issue", "create_issue"), "createIssue": "mcp-s-createissue", "Create Issue": hashed("mcp-s-create-issue", "Create Issue")}},
		"Japanese":             {"s", nil, map[string]string{"検索": hashed("mcp-s", "検索"), "削除": hashed("mcp-s", "削除"), "検索 issue": "mcp-s-issue"}},
		"another server":       {"a", []string{"a", "a-b", "c"}, map[string]string{"b-c": hashed("mcp-a-b-c", "b-c"), "b": "mcp-a-b", "bc": "mcp-a-bc", "c-x": "mcp-a-c-x"}},
		"the other server":     {"a-b", []string{"a", "a-b", "c"}, map[string]string{"c": "mcp-a-b-c", "c-deadbeef": hashed("mcp-a-b-c-deadbeef", "c-deadbeef")}},
		"no other server":      {"a-b", []string{"a-b"}, map[string]string{"c-deadbeef": "mcp-a-b-c-deadbeef"}},
		"itself":               {"a", []string{"a"}, map[string]string{"a-b": "mcp-a-a-b"}},
		"a name of a digest":   {"s", nil, map[string]string{"A B": "", "a_b": hashed("mcp-s-a-b", "a_b"), "a-b" + digestOf("A B"): "mcp-s-a-b" + digestOf("A B")}},
		"a server with spaces": {"My Docs", []string{"My Docs"}, map[string]string{"x": "mcp-my-docs-x"}},
		"a shared spelling":    {"My Docs", []string{"My Docs", "my-docs"}, map[string]string{"x": hashed("mcp-my-docs-x", "My Docs\x00x")}},
		"the other spelling":   {"my-docs", []string{"My Docs", "my-docs"}, map[string]string{"x": "mcp-my-docs-x"}},
	} {
		if c.want["A B"] == "" && name == "a name of a digest" { // eight digits are taken
			c.want["A B"] = fmt.Sprintf("mcp-s-a-b-%x", sha256.Sum256([]byte("A B")))[:len("mcp-s-a-b-")+16]
		}
		if diff := cmp.Diff(c.want, ToolNames(c.server, slices.Collect(maps.Keys(c.want)), c.configured)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// No two tools share a name, each name is a node type of its server, and it depends on nothing else.
func TestToolNamesProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SampledFrom([]string{"a", "b", "c", "-", "_", " ", "A", "検", "1f", "deadbeef", digestOf("a_b"), digestOf("b c")})
		toolName := rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(word, 1, 6).Draw(t, "words"), "") })
		part := rapid.SampledFrom([]string{"a", "b", "a-b", "a-b-c", "b-a", "a-1f", "a-deadbeef", "A b"})
		servers := rapid.SliceOfNDistinct(part, 1, 5, rapid.ID).Draw(t, "servers")
		owner := map[string]string{}
		for _, server := range servers {
			tools := rapid.SliceOfNDistinct(toolName, 0, 12, rapid.ID).Draw(t, "tools of "+server)
			names := ToolNames(server, tools, servers)
			again := ToolNames(server, backward(tools), backward(servers))
			if diff := cmp.Diff(names, again); diff != "" || len(names) != len(tools) {
				t.Fatalf("another order: %s", diff)
			}
			for tool, name := range names {
				if !strings.HasPrefix(name, "mcp-"+home.CleanName(server)+"-") || len(name) > home.MaxType || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
					t.Fatalf("%q of %s is %q", tool, server, name)
				}
				if other, taken := owner[name]; taken {
					t.Fatalf("%s is %q of %s and %s", name, tool, server, other)
				}
				owner[name] = fmt.Sprintf("%q of %s", tool, server)
			}
		}
	})
}

func backward(list []string) []string {
	list = slices.Clone(list)
	slices.Reverse(list)
	return list
}
