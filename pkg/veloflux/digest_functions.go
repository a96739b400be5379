package veloflux

import (
	"encoding/json"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// functionDigest is what stays of a function. Its parts are the Manager's own bytes without white space.
type functionDigest struct {
	Name            json.RawMessage `json:"name"`
	Kind            json.RawMessage `json:"kind"`
	Aliases         json.RawMessage `json:"aliases"`
	ArgCount        *int            `json:"arg_count"`
	AllowedContexts json.RawMessage `json:"allowed_contexts"`
	Requirements    json.RawMessage `json:"requirements"`
}

// functionsDigest makes {"functions":[…]} of the body of GET /functions, in its order. The arg_count is how many
// arguments are declared, optional and variadic ones among them, and null when the function declares no list. The same
// body gives the same bytes. The error completes a sentence that names the body.
func functionsDigest(body []byte) (json.RawMessage, error) {
	functions, err := parseList(body, "function")
	if err != nil {
		return nil, err
	}
	digest := struct {
		Functions []functionDigest `json:"functions"`
	}{make([]functionDigest, 0, len(functions))}
	for _, f := range functions {
		digest.Functions = append(digest.Functions, functionDigest{
			Name:            rawText(f.Get("name")),
			Kind:            rawText(f.Get("kind")),
			Aliases:         rawList(f.Get("aliases")),
			ArgCount:        count(f.Get("signature.args")),
			AllowedContexts: rawList(f.Get("allowed_contexts")),
			Requirements:    rawList(f.Get("requirements")),
		})
	}
	return rawjson.Marshal(digest)
}

// count is the length of a list, and nil for anything else.
func count(value gjson.Result) *int {
	if !value.IsArray() {
		return nil
	}
	n := len(value.Array())
	return &n
}
