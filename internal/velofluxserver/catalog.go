package velofluxserver

import (
	_ "embed" // the answers of the routes
	"net/http"
	"strings"

	"github.com/tidwall/gjson"
)

// catalog is the answer of /functions: some functions of each kind, sorted by name. As in the real one, isnull is there
// twice. grammar is that of /capabilities/syntax: the five roots and some of their constructs. Windows nest three deep. The
// semantics of their root have more than 240 characters, and those around the 240th have more than one byte.
var (
	//go:embed data/functions.json
	catalog string
	//go:embed data/syntax.json
	grammar string
)

// document returns a JSON document as the Manager writes it, without white space.
func document(text string) response {
	return response{status: http.StatusOK, contentType: "application/json", body: []byte(gjson.Get(text, "@ugly").Raw)}
}

func (s *Server) listFunctions(*call) response { return document(catalog) }

func (s *Server) syntax(*call) response { return document(grammar) }

// describeFunction returns a function by its name or an alias, in any case.
func (s *Server) describeFunction(c *call) response {
	for _, f := range gjson.Parse(catalog).Array() {
		for _, name := range append(f.Get("aliases").Array(), f.Get("name")) {
			if strings.EqualFold(name.Str, c.arg) {
				return document(f.Raw)
			}
		}
	}
	return textResponse(http.StatusNotFound, "function "+c.arg+" not found")
}
