package veloflux

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"
)

// maxCapacity is the most places of a channel between two processors. The Manager reserves them all at once: 10,000,000
// take 5.9 GB, and a number near 2^53 ends the Manager, which has stored the pipeline by then and so ends at every start.
const maxCapacity = 65536

// checkDefinition returns the id in a CreatePipelineRequest, or "". It refuses an id that cannot be named by a route, SQL
// that is blank, and a capacity that could end the Manager.
func checkDefinition(body json.RawMessage) (id string, err error) {
	if err := checkText(body); err != nil {
		return "", err
	}
	definition := gjson.ParseBytes(body)
	if !json.Valid(body) || !definition.IsObject() {
		return "", &Error{Code: CodeInvalidParams, Message: "A pipeline must be a JSON object with id, sql and sinks" + notSent}
	}
	definition.ForEach(func(key, value gjson.Result) bool {
		switch {
		case key.Str == "id" && isText(value):
			id = value.Str
			_, err = segment(pipelineKind, id)
		case key.Str == "sql" && isText(value) && strings.TrimSpace(value.Str) == "":
			err = &Error{Code: CodeInvalidParams, Message: "The SQL is blank" + notSent, Details: map[string]any{"path": "sql"}}
		case key.Str == "options" && value.IsObject():
			err = checkOptions(value)
		}
		return err == nil
	})
	return id, err
}

// checkOptions refuses a capacity above maxCapacity.
func checkOptions(options gjson.Result) (err error) {
	options.ForEach(func(key, value gjson.Result) bool {
		if key.Str == "data_channel_capacity" && value.Type == gjson.Number && value.Num > maxCapacity {
			err = &Error{
				Code: CodeInvalidParams,
				Message: fmt.Sprintf("options.data_channel_capacity must be at most %d, got %s: the Manager reserves memory for all of it at once, and more can end it, now and at every start%s",
					maxCapacity, printable(value.Raw), notSent),
				Details: map[string]any{"path": "options.data_channel_capacity", "limit": maxCapacity},
			}
		}
		return err == nil
	})
	return err
}
