package mcpclient

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pflow-suite/pflow/pkg/fault"
)

func TestContentsOfResources(t *testing.T) {
	blob := `{"uri":"a:b","mimeType":"image/png","blob":"eA=="}`
	for result, want := range map[string]string{
		`{"contents":[]}`: `null`,
		`{}`:              `null`,
		`{"contents":[{"uri":"a:b","text":"{\"a\": 1}"}]}`:                                     `"{\"a\": 1}"`,
		`{"contents":[{"uri":"a:b","mimeType":"text/plain","text":"[1]"}]}`:                    `"[1]"`,
		`{"contents":[{"uri":"a:b","mimeType":"application/json","text":" {\"a\": 1.50}\n"}]}`: `{"a": 1.50}`,
		`{"contents":[{"uri":"a:b","mimeType":"application/ld+json;p=1","text":"12"}]}`:        `12`,
		`{"contents":[{"uri":"a:b","mimeType":"application/json","text":"{oops"}]}`:            `"{oops"`,
		`{"contents":[` + blob + `]}`:                                                          blob,
		`{"contents":[{"uri":"a:b","mimeType":"application/json","text":"[1]"},` + blob + `]}`: `[{"uri":"a:b","mimeType":"application/json","text":"[1]"},` + blob + `]`,
		`{"contents":[{"uri":"a:b"}]}`:                                                         `{"uri":"a:b"}`,
		`{"contents":[7,"x",null]}`:                                                            `null`,
	} {
		if got := string(parseContents(json.RawMessage(result)).Result(nil)); got != want {
			t.Errorf("%s: got %s, want %s", result, got, want)
		}
	}
}

func TestLinksOfAnAnswer(t *testing.T) {
	link := `{"type":"resource_link","uri":"x:y","size":9007199254740993}`
	for result, want := range map[string]string{
		`{"content":[{"type":"text","text":"x"}]}`:                           ``,
		`{"content":[{"type":"resource_link"}]}`:                             ``,
		`{"content":[` + link + `,{"type":"text","text":"x"},` + link + `]}`: `[` + link + `,` + link + `]`,
	} {
		if got := string(parseAnswer(json.RawMessage(result)).Links()); got != want {
			t.Errorf("%s: got %s, want %s", result, got, want)
		}
	}
}

// resourceServer has many resources with long names, one of them binary, and no templates.
func resourceServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "fake", Version: "1"}, &mcp.ServerOptions{PageSize: 1000})
	read := func(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		content := &mcp.ResourceContents{URI: req.Params.URI, MIMEType: "text/plain", Text: "the text of " + req.Params.URI}
		if req.Params.URI == "a:0" {
			content = &mcp.ResourceContents{URI: req.Params.URI, MIMEType: "image/png", Blob: []byte{0, 255}}
		}
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{content}}, nil
	}
	for i := range 500 {
		s.AddResource(&mcp.Resource{URI: fmt.Sprintf("a:%d", i), Name: strings.Repeat("long name\n", 30)}, read)
	}
	return s
}

func TestResourcesOverBothTransports(t *testing.T) {
	web := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return resourceServer() }, nil))
	defer web.Close()
	for name, spec := range map[string]Spec{"stdio": fakeSpec(t, "resources"), "http": {Name: "web", Server: Server{URL: web.URL}}} {
		s, err := Connect(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		tools, err := s.Catalog(t.Context())
		if err != nil || len(tools) != 1 || tools[0].Name != ReadResource {
			t.Fatalf("%s: tools %v, %v", name, tools, err)
		}
		described := tools[0].Description
		if !strings.Contains(described, "a:0 (long name") || !strings.Contains(described, "and 490 more") || len(described) > 5000 {
			t.Errorf("%s: the description has %d bytes: %.300s", name, len(described), described)
		}
		for uri, want := range map[string]string{"a:7": `"the text of a:7"`, "a:0": `{"uri":"a:0","mimeType":"image/png","blob":"AP8="}`} {
			for range 2 {
				answer, err := s.Call(t.Context(), ReadResource, json.RawMessage(`{"uri":"`+uri+`"}`), nil)
				if err != nil || string(answer.Result(nil)) != want {
					t.Fatalf("%s: %s is %v, %v; want %s", name, uri, answer, err, want)
				}
			}
		}
		_, err = s.Call(t.Context(), ReadResource, json.RawMessage(`{"uri":"a:none"}`), nil)
		if f := fault.From(err); f == nil || f.Type != fault.NotFound {
			t.Errorf("%s: a resource that does not exist: %v", name, err)
		}
		if _, err = s.Call(t.Context(), ReadResource, json.RawMessage(`{"uri":7}`), nil); fault.From(err).Type != fault.Validation {
			t.Errorf("%s: a URI that is not a text: %v", name, err)
		}
	}
}

func TestReaderOfAServerWithoutSync(t *testing.T) {
	s := connect(t, "resources")
	if tool, err := s.FindTool(t.Context(), "read-resource"); err != nil || tool.Name != ReadResource {
		t.Errorf("got %v, %v", tool.Name, err)
	}
}

func TestReaderTakesNoNameFromATool(t *testing.T) {
	for _, c := range []struct {
		tools, configured []string
		want              string
	}{
		{nil, nil, "mcp-a-read-resource"},
		{[]string{"read-resource"}, nil, "mcp-a-read-resource-88d169db"},
		{[]string{"Read_Resource"}, nil, "mcp-a-read-resource-88d169db"},
		{nil, []string{"a", "a-read"}, "mcp-a-read-resource-88d169db"},
		{nil, []string{"a", "a-b"}, "mcp-a-read-resource"},
	} {
		names := ToolNames("a", append([]string{ReadResource}, c.tools...), c.configured)
		if names[ReadResource] != c.want {
			t.Errorf("%v of %v: %v", c.tools, c.configured, names)
		}
		for _, tool := range c.tools {
			if names[tool] != "mcp-a-read-resource" {
				t.Errorf("%v: %v", c.tools, names)
			}
		}
	}
}
