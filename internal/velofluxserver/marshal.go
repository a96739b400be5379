package velofluxserver

import (
	"bytes"
	"encoding/json"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// marshal writes JSON without HTML escapes, like the Manager. It panics if v cannot be written, which would be a mistake of
// this package.
func marshal(v any) []byte {
	raw, err := rawjson.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}

func quoted(text string) json.RawMessage { return rawjson.Quote(text) }

// sorted returns JSON without white space and with the names of its objects sorted. Numbers keep their spelling.
func sorted(raw string) json.RawMessage {
	d := json.NewDecoder(bytes.NewReader([]byte(raw)))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		panic(err)
	}
	return marshal(v)
}
