package mcphttp

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

const (
	lastEventID = "Last-Event-ID"
	// maxEventID is the most bytes of the id of an event. Events of requests with longer ids or tokens have none.
	maxEventID = 1 << 10
)

// eventID is the id of an event, in base64. It has all that the rest of the stream needs, because the server keeps nothing: another one
// may send that.
type eventID struct {
	// Request is the id of the request, and Token its progress token, or empty.
	Request json.RawMessage `json:"request"`
	Token   json.RawMessage `json:"token,omitempty"`
	// Place is the tool's.
	Place string `json:"place"`
}

// encode returns the id as text, or "" if it is too long.
func (id *eventID) encode() string {
	raw, err := rawjson.Marshal(id)
	if err != nil || base64.RawURLEncoding.EncodedLen(len(raw)) > maxEventID {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(raw)
}

// parseEventID parses an id. It reports false for what encode cannot have made.
func parseEventID(text string) (id *eventID, ok bool) {
	if len(text) > maxEventID {
		return nil, false
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return nil, false
	}
	id = &eventID{}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if decoder.Decode(id) != nil || id.Place == "" || !isID(id.Request) || len(id.Token) > 0 && !isID(id.Token) {
		return nil, false
	}
	return id, id.encode() == text
}

// isID reports whether a value can be the id of a request, or a progress token.
func isID(value json.RawMessage) bool {
	kind := gjson.ParseBytes(value).Type
	return kind == gjson.String || kind == gjson.Number
}

// continues reports whether the client of a request can go on with streams that it loses.
func (h *Handler) continues(r *http.Request) bool {
	return h.config.Continued != "" && r.Header.Get(revisionHeader) < firstStateless
}

// resume answers with the rest of a stream, after the event in Last-Event-ID: the request is repeated, and the tool told where to go on.
func (h *Handler) resume(w http.ResponseWriter, r *http.Request) {
	client, err := h.config.Client(r)
	if err != nil {
		deny(w, err)
		return
	}
	id, ok := parseEventID(r.Header.Get(lastEventID))
	if !ok || len(r.Header.Values(lastEventID)) > 1 {
		refuse(w, http.StatusBadRequest, jsonrpc.CodeInvalidRequest, "Last-Event-ID must be the id of an event of a stream of this server's")
		return
	}
	type meta struct {
		Token json.RawMessage `json:"progressToken,omitempty"`
	}
	type params struct {
		Name      string   `json:"name"`
		Arguments struct{} `json:"arguments"`
		Meta      meta     `json:"_meta"`
	}
	data, err := rawjson.Marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  string          `json:"method"`
		Params  params          `json:"params"`
	}{"2.0", id.Request, "tools/call", params{Name: h.config.Continued, Meta: meta{id.Token}}})
	if err != nil {
		refuse(w, http.StatusBadRequest, jsonrpc.CodeInvalidRequest, "Last-Event-ID has no request")
		return
	}
	in, refused := parse(data, r.Header.Get(revisionHeader))
	if refused != nil {
		refuseAs(w, http.StatusBadRequest, refused)
		return
	}
	_, _ = io.Copy(io.Discard, http.MaxBytesReader(w, r.Body, maxBody)) // a GET has none
	repeated := r.Clone(r.Context())
	repeated.Method = http.MethodPost
	repeated.ContentLength = int64(len(data))
	repeated.Header.Set("Content-Type", "application/json")
	repeated.Header.Del(lastEventID)
	h.answer(w, repeated, client, in, formStream, id.Place)
}
