package veloflux

import "strings"

// meaning is the kind of mistake that a text of status 400 reports.
type meaning int

const (
	unclear     meaning = iota
	wrongSQL            // the statement cannot be parsed or planned
	wrongField          // a field of the request has an invalid value
	wrongScheme         // a plain HTTP request came to a server that speaks TLS
	wrongPart           // a part of a pipeline is invalid, and the pipeline was stored before that was found
)

// wordings are the Manager's texts of status 400, by what they begin with, contain and end with. The first match counts.
var wordings = [...]struct {
	prefix, contains, suffix string
	meaning                  meaning
}{
	{"parse pipeline ", "", "", wrongSQL},
	{"Dialect processing error", "", "", wrongSQL},
	{"Only one window function is allowed", "", "", wrongSQL},
	{"failed to explain pipeline ", "", "", wrongSQL},
	{"invalid pipeline spec: pipeline build error:", "", "", wrongSQL},
	{"failed to create pipeline ", "pipeline build error:", "", wrongSQL},
	{"stream ", "", " missing from storage", wrongSQL},
	{"pipeline must define ", "", "", wrongField},
	{"", "", " must not be empty", wrongField},
	{"options.", "", "", wrongField},
	{"flow instance ", "", "", wrongField},
	{"", "HTTP request to an HTTPS server", "", wrongScheme},
	{"unsupported sink type", "", "", wrongPart},
	{"", "", " requires topic", wrongPart},
	{"", " sink requires ", "", wrongPart},
	{"encoder kind ", "", " not registered", wrongPart},
	{"pipeline source ", "", "", wrongPart},
	{"", " sink props", "", wrongPart},
	{"memory topic ", "", " not declared", wrongPart},
	{"memory topic ", " kind mismatch", "", wrongPart},
}

// meaningOf returns the meaning of a text of status 400. The status is the same for all kinds of mistakes.
func meaningOf(text string) meaning {
	for _, w := range wordings {
		if strings.HasPrefix(text, w.prefix) && strings.Contains(text, w.contains) && strings.HasSuffix(text, w.suffix) {
			return w.meaning
		}
	}
	return unclear
}
