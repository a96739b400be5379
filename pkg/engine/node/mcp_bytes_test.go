package node

import (
	"encoding/json"
	"testing"
)

func TestBinaryContentOfResults(t *testing.T) {
	const data = `"iVBORw0KGgoAAAANSUhEUgAA"`
	const stored = `{"$base64":` + data + `,"mime":"image/png"}`
	block := json.RawMessage(`{"type":"image","data":` + data + `,"mimeType":"image/png","$x":1}`)
	for _, c := range []struct{ got, want json.RawMessage }{
		{storedBlock(block), json.RawMessage(`{"type":"image","data":` + stored + `,"mimeType":"image/png","$$x":1}`)},
		{storedBlock(json.RawMessage(`{"type":"image","data":"no base64"}`)), json.RawMessage(`{"type":"image","data":"no base64"}`)},
		{storedBlock(json.RawMessage(`{"type":"resource","resource":{"uri":"a:b","text":"t"}}`)), json.RawMessage(`{"type":"resource","resource":{"uri":"a:b","text":"t"}}`)},
		{storedValue(json.RawMessage(`{"content":[{"data":`+data+`}],"$n":1}`), binariesOf([]json.RawMessage{block})), json.RawMessage(`{"content":[{"data":` + stored + `}],"$$n":1}`)},
		{storedValue(json.RawMessage(`{"data":"other"}`), binariesOf([]json.RawMessage{block})), json.RawMessage(`{"data":"other"}`)},
		{storedValue(json.RawMessage(`{"data":"eA=="}`), binariesOf([]json.RawMessage{json.RawMessage(`{"type":"image","data":"eA=="}`)})), json.RawMessage(`{"data":"eA=="}`)},
	} {
		if string(c.got) != string(c.want) {
			t.Errorf("got  %s\nwant %s", c.got, c.want)
		}
	}
}
