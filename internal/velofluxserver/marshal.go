package velofluxserver

import (
	"bytes"
	"encoding/json"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// marshal writes JSON without escapes that the Manager does not write. It panics on what is no JSON: the values are this package's.
func marshal(v any) []byte {
	raw, err := rawjson.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}

func quoted(text string) json.RawMessage { return rawjson.Quote(text) }

// sorted gives JSON without blanks and with the names of its objects sorted; numbers keep their spelling.
func sorted(raw string) json.RawMessage {
	d := json.NewDecoder(bytes.NewReader([]byte(raw)))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		panic(err)
	}
	return marshal(v)
}
