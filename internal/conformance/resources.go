package conformance

import (
	"context"
	"fmt"
	"strings"

	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
)

func prompt(name string, arguments ...string) mcpserver.Prompt {
	p := mcpserver.Prompt{Name: name, Description: "The prompt " + name}
	for _, argument := range arguments {
		p.Arguments = append(p.Arguments, mcpserver.PromptArgument{Name: argument, Description: "The argument " + argument, Required: true})
	}
	p.Get = func(_ context.Context, given map[string]string) (string, error) {
		if len(arguments) == 0 {
			return "This is a simple prompt for testing.", nil
		}
		return fmt.Sprintf("Prompt with arguments: arg1='%s', arg2='%s'", given["arg1"], given["arg2"]), nil
	}
	return p
}

func prompts() []mcpserver.Prompt {
	return []mcpserver.Prompt{prompt("test_simple_prompt"), prompt("test_prompt_with_arguments", "arg1", "arg2")}
}

// png is an image of one red pixel.
var png = []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x02\x00\x00\x00\x90wS\xde\x00\x00\x00\x0cIDATx\x9cc\xf8\xcf\xc0\x00\x00\x03\x01\x01\x00\xc9\xfe\x92\xef\x00\x00\x00\x00IEND\xaeB`\x82")

func resources() []mcpserver.Resource {
	content := func(c mcpserver.Content) func(context.Context, string) (*mcpserver.Content, error) {
		return func(context.Context, string) (*mcpserver.Content, error) { return &c, nil }
	}
	return []mcpserver.Resource{
		{URI: "test://static-text", Name: "static-text", Description: "A text", MIMEType: "text/plain", Read: content(mcpserver.Content{Text: "This is the content of the static text resource."})},
		{URI: "test://static-binary", Name: "static-binary", Description: "An image", MIMEType: "image/png", Read: content(mcpserver.Content{Blob: png})},
		{URI: "test://template/{id}/data", Name: "template", Description: "A template", MIMEType: "application/json", Read: func(_ context.Context, uri string) (*mcpserver.Content, error) {
			id := strings.TrimSuffix(strings.TrimPrefix(uri, "test://template/"), "/data")
			return &mcpserver.Content{Text: fmt.Sprintf(`{"id":%q,"templateTest":true,"data":"Data for ID: %s"}`, id, id)}, nil
		}},
	}
}
