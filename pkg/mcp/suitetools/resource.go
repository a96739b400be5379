package suitetools

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
	"github.com/pflow-suite/pflow/pkg/mcp/suitetools/suite"
)

// scheme begins the URIs of all resources.
const scheme = "pflow://"

// resource is a row in the table of resources: one URI, or a template with parameters such as {run}, and the command that prints
// it. Read is called with the values of the parameters.
type resource struct {
	uri, name, title, description, mimeType string
	// meta is the _meta of the content, or nil.
	meta map[string]any
	// unlisted reports that the resource is for the App and not for models, so that lists leave it out.
	unlisted bool
	// path reports that the last parameter may contain slashes, such as that of a node inside a sub-workflow.
	path bool
	read func(ctx context.Context, values []string) (*mcpserver.Content, error)
}

// reader reads resources: it runs commands of the suite.
type reader struct {
	suite *suite.Programs
	// tools are those that the App may call.
	tools []string
	// client is who reads them.
	client fault.Reader
}

func (f *Front) reader() reader { return reader{f.Suite, appTools(f), f.Reader()} }

// resources is the table.
func (r reader) resources() []resource {
	return []resource{
		{
			uri: scheme + "guide", name: "guide", title: "How to write a workflow", mimeType: "text/markdown",
			description: "The workflow language on one page, with examples. Read it before writing the first workflow.",
			read:        r.readGuide,
		}, {
			uri: scheme + "schema", name: "schema", title: "The JSON Schema of a workflow", mimeType: "application/schema+json",
			description: "Every field of a workflow file in the JSON form, with its type and meaning.",
			read:        r.readSchema,
		}, {
			uri: scheme + "nodes/{type}", name: "node-type", title: "A node type", mimeType: "application/json",
			description: "The whole interface of a node type: its parameters, outputs and actions.",
			read:        r.readNodeType,
		}, {
			uri: scheme + "workflows/{name}", name: "workflow", title: "A workflow",
			description: "The file of a saved workflow, or else of a draft, as it is: JSON or Markdown.",
			read:        r.readWorkflow,
		}, {
			uri: scheme + "runs/{run}", name: "run", title: "A run", mimeType: "application/json",
			description: "The status of a run, which may be \"last\": how many of its nodes have ended, which run now, and why it failed.",
			read:        r.readRun,
		}, {
			uri: scheme + "runs/{run}/fragment", mimeType: "text/html", unlisted: true, read: r.readFragment,
		}, {
			uri: appURI, mimeType: appType, meta: appMeta(), unlisted: true, read: r.readApp,
		}, {
			uri: scheme + "runs/{run}/outputs/{key}", name: "run-output", title: "An output of a run", mimeType: "text/plain", path: true,
			description: "One output of a run as text. The results of execute link to it in place of long texts.",
			read:        r.readOutput,
		}, {
			uri: scheme + "runs/{run}/nodes/{node}", name: "run-node", title: "A node of a run", mimeType: "application/json", path: true,
			description: "Everything about one node of a run: its state, times, outputs and error. A node in a sub-workflow is PARENT/NODE.",
			read:        r.readNode,
		}, {
			uri: scheme + "runs/{run}/logs", name: "run-logs", title: "The log of a run", mimeType: "text/plain",
			description: "What the processes of all nodes of a run printed; of a long log the end.",
			read:        r.readLogs,
		}, {
			uri: scheme + "runs/{run}/logs/{node}", name: "node-log", title: "The log of a node", mimeType: "text/plain", path: true,
			description: "What the processes of one node of a run printed, standard output first; of a long log the end.",
			read:        r.readLogs,
		},
	}
}

// Resources returns the resources of a suite, without their Read: the server reads all URIs with Read.
func (f *Front) Resources() []mcpserver.Resource {
	var list []mcpserver.Resource
	for _, r := range resourcesOf(f) {
		if r.unlisted {
			continue
		}
		list = append(list, mcpserver.Resource{URI: r.uri, Name: r.name, Title: r.title, Description: r.description, MIMEType: r.mimeType})
	}
	return list
}

// Read returns the content of a resource. If no resource has the URI, the error is a not_found.
func (f *Front) Read(ctx context.Context, uri string) (*mcpserver.Content, error) {
	var uris []string
	for _, r := range resourcesOf(f) {
		if values, ok := r.match(uri); ok {
			if err := mayRead(ctx, f, r.uri, values); err != nil {
				return nil, err
			}
			content, err := r.read(ctx, values)
			if err == nil {
				content.MIMEType, content.Meta = cmp.Or(content.MIMEType, r.mimeType), r.meta
			}
			return content, err
		}
		if !r.unlisted {
			uris = append(uris, r.uri)
		}
	}
	shown := fault.Truncate(uri, maxEcho)
	missing := fault.New(fault.NotFound, "There is no resource %s", shown)
	if near, ok := fault.Nearest(shown, uris); ok {
		missing.Suggest("Did you mean %s?", near)
	}
	missing.Suggest("Put names in place of the words in braces, with characters such as / and spaces percent-encoded")
	missing.Available = uris
	return nil, missing
}

// match returns the decoded values of the parameters if a URI is one of the resource. No value is empty or has control characters.
func (r *resource) match(uri string) (values []string, ok bool) {
	parts, given := strings.Split(r.uri, "/"), strings.Split(uri, "/")
	if n := len(parts); r.path && len(given) > n {
		given = append(slices.Clip(given[:n-1]), strings.Join(given[n-1:], "/"))
	}
	if len(given) != len(parts) {
		return nil, false
	}
	for i, part := range parts {
		if !strings.HasPrefix(part, "{") {
			if given[i] != part {
				return nil, false
			}
			continue
		}
		value, err := url.PathUnescape(given[i])
		if err != nil || value == "" || strings.ContainsFunc(value, unicode.IsControl) {
			return nil, false
		}
		values = append(values, value)
	}
	return values, true
}
