package runner

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

func TestRequestReader(t *testing.T) {
	long := strings.Repeat("a long \"text\"\n\\é", longText/8)
	quoted := string(rawjson.Quote(long))
	for _, c := range []struct {
		request, left string
	}{
		{request: `{"v":1,"type":"shell","params":{"command":"x","stdin":%s,"x":{"stdin":"y"}},"held":true}`, left: `""`},
		{request: `{ "type" : "write-file", "params" : { "content" :%s}}`, left: `""`},
		{request: `{"type":"shell","params":{"stdin":%s,"stdin":"twice"}}`, left: `""`},
		{request: `{"type":"shell","params":{"content":%s}}`},
		{request: `{"type":"shell","params":{"stdin":[%s]}}`},
		{request: `{"type":"shell","params":{"env":{"stdin":%s}}}`},
		{request: `{"type":"shell","x":{"stdin":%s},"params":{}}`},
		{request: `{"type":"echo","params":{"stdin":%s}}`},
		{request: `{"params":{"stdin":%s},"type":"shell"}`},
		{request: `[{"type":"shell","params":{"stdin":%s}}]`},
		{request: `{"type":"shell","params":{"stdin":"short","command":"\"stdin\":"}} %s`},
	} {
		for _, read := range []func(io.Reader) io.Reader{func(r io.Reader) io.Reader { return r }, iotest.OneByteReader} {
			r := newRequestReader(read(strings.NewReader(fmt.Sprintf(c.request, quoted))))
			got, err := io.ReadAll(r)
			want := c.left
			if want == "" {
				want = quoted
			}
			if want = fmt.Sprintf(c.request, want); err != nil || string(got) != want {
				t.Errorf("%s: %v, %.300s", c.request, err, got)
			}
			text := r.long()
			if (text != nil) != (c.left != "") {
				t.Fatalf("%s: a long text: %t", c.request, text != nil)
			}
			if text != nil {
				content, err := text.Open()
				if err != nil {
					t.Fatal(err)
				}
				if b, err := io.ReadAll(content); err != nil || string(b) != long {
					t.Errorf("%s: %v, %.300q", c.request, err, b)
				}
			}
			r.close()
		}
	}
	for _, broken := range []string{`{"type":"shell","params":{"stdin":"` + long[:5], `{"type":"shell","params":{"stdin":` + quoted[:len(quoted)-1], `{"type":"shell","params":{"stdin":"` + strings.Repeat(`\x`, longText) + `"}}`} {
		r := newRequestReader(strings.NewReader(broken))
		var v any
		if err := json.NewDecoder(r).Decode(&v); err == nil {
			t.Errorf("%.60s is a request", broken)
		}
		r.close()
	}
}
