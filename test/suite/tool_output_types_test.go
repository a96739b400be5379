package suite

import (
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// The output schema of a tool gives the types of nested parts of its result to the check.
func TestNestedResultsHaveTypes(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.serve("s", `[{"name":"get","inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{"user":{"$ref":"#/$defs/User"}},
		"$defs":{"User":{"type":"object","additionalProperties":false,"properties":{"name":{"type":"string"},"ids":{"type":"array","items":{"type":"integer"}}}}}}}]`,
		map[string]string{"get": `{"structuredContent":{"user":{"name":"Ada","ids":[7]}},"content":[]}`})
	for read, message := range map[string]string{
		"${get.user.name}": "", "${get.result.user.ids[0]}": "",
		"${get.user.nmae}": "${get.user.name}", "${get.user.ids.first}": "is a list", "${get.user.ids[0].value}": "is of type int",
	} {
		p.write("w.json", `{"nodes":[{"id":"get","type":"mcp-s-get"}],"outputs":{"o":{"source":"`+read+`"}}}`)
		o := p.run("pflow-exec", "run", "w.json", "--format", "json")
		f := gjson.Get(o.stdout, "error")
		if told := f.Get("message").Str + f.Get("suggestions").Raw; message == "" && o.exit != 0 || message != "" && (o.exit != 2 || !strings.Contains(told, message)) {
			t.Errorf("%s: %s", read, o)
		}
	}
}
