package mcphttp

import (
	"mime"
	"net/http"
	"strconv"
	"strings"
)

// form is how a request is answered.
type form int

const (
	formNone form = iota // the client accepts neither
	formJSON
	formStream
)

// accept is what a client accepts: media types by name, and all by */*.
type accept struct{ json, stream, all bool }

// parseAccept reads the header Accept. A type with q=0 is not accepted; a missing header accepts all.
func parseAccept(header http.Header) accept {
	values := header.Values("Accept")
	if len(values) == 0 {
		return accept{all: true}
	}
	var a accept
	for part := range strings.SplitSeq(strings.Join(values, ","), ",") {
		name, params, err := mime.ParseMediaType(part)
		if q, bad := strconv.ParseFloat(params["q"], 64); err != nil || bad == nil && q <= 0 {
			continue
		}
		switch name {
		case "application/json", "application/*":
			a.json = true
		case "text/event-stream":
			a.stream = true
		case "*/*":
			a.all = true
		}
	}
	return a
}

// form returns how a request is answered. Each MCP client names both types, so a client that names both receives a stream only if
// it asked for progress. The answer to subscriptions/listen is always a stream.
func (a accept) form(in *input) form {
	plain, stream := a.json || a.all, a.stream || a.all
	switch {
	case in.listens && stream, a.stream && !plain, a.stream && in.progress:
		return formStream
	case in.listens || !plain:
		return formNone
	}
	return formJSON
}
