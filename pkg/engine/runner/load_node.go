package runner

import (
	"encoding/json"

	"github.com/pflow-suite/pflow/pkg/catalog/library"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// SingleNode is the id of the node in a workflow that LoadNode makes.
const SingleNode = "node"

// LoadNode makes a request that runs one node of a type, with the parameters in a JSON object, as a workflow of its own. Templates
// in the parameters have nothing to refer to. Paths start from the folder to run in.
func LoadNode(host *Host, nodeType string, params json.RawMessage, o Options) (*Request, error) {
	r, err := o.request(host)
	if err != nil {
		return nil, err
	}
	type node struct {
		ID     string          `json:"id"`
		Type   string          `json:"type"`
		Params json.RawMessage `json:"params"`
	}
	source, err := rawjson.Marshal(map[string]any{"nodes": []node{{SingleNode, nodeType, params}}})
	if err != nil {
		return nil, fault.From(err)
	}
	file, _, err := library.Open(host.Home).Open("-", false, r.Dir, func(string, int64) ([]byte, error) { return source, nil })
	if err != nil {
		return nil, withoutPlaces(err)
	}
	r.Name, r.File, r.Source, r.file, r.single = "node "+nodeType, file.Name, source, file, true
	r.Folder, r.Files = file.Dir, file.Included()
	return r, nil
}

// withoutPlaces returns a fault of a workflow that LoadNode has made without the places in its text, because the user
// did not write that text.
func withoutPlaces(err error) error {
	if err == nil {
		return nil
	}
	f := *fault.From(err)
	f.File, f.Line, f.Column, f.Path = "", 0, 0, ""
	details := f.Details
	f.Details = nil
	for key, value := range details {
		if key != "mark" && key != "text" {
			f.Detail(key, value)
		}
	}
	errors := f.Errors
	f.Errors = nil
	for _, e := range errors {
		f.Errors = append(f.Errors, fault.From(withoutPlaces(e)))
	}
	if len(f.Errors) == 1 {
		return f.Errors[0]
	}
	return &f
}
