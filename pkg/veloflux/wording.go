package veloflux

import "strings"

// meaning is what a text of status 400 is about.
type meaning int

const (
	unclear     meaning = iota
	wrongSQL            // the statement cannot be read or planned
	wrongField          // a field of the request has a value that it cannot have
	wrongScheme         // a server that speaks TLS was asked without
	wrongPart           // a part of a pipeline that is looked at after the pipeline was stored, which is not taken back
)

// wordings are how the Manager's texts of status 400 begin, what is in them and how they end. The first that fits counts.
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

// meaningOf tells by the words of a text of status 400 what is wrong: the status is the same for all of it.
func meaningOf(text string) meaning {
	for _, w := range wordings {
		if strings.HasPrefix(text, w.prefix) && strings.Contains(text, w.contains) && strings.HasSuffix(text, w.suffix) {
			return w.meaning
		}
	}
	return unclear
}
