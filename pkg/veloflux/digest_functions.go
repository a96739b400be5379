package veloflux

import (
	"encoding/json"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// functionDigest is the part of a function that its digest keeps, in the Manager's bytes without white space.
type functionDigest struct {
	Name            json.RawMessage `json:"name"`
	Kind            json.RawMessage `json:"kind"`
	Aliases         json.RawMessage `json:"aliases"`
	ArgCount        *int            `json:"arg_count"`
	AllowedContexts json.RawMessage `json:"allowed_contexts"`
	Requirements    json.RawMessage `json:"requirements"`
}

// functionsDigest makes {"functions":[…]} from the body of GET /functions, in the same order. The arg_count is the
// number of declared arguments, including optional and variadic ones, or null if the function declares no list. The
// result is deterministic. The error completes a sentence that names the body.
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

// count returns the length of a list, or nil for any other value.
func count(value gjson.Result) *int {
	if !value.IsArray() {
		return nil
	}
	n := len(value.Array())
	return &n
}
