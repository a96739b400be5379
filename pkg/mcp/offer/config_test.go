package offer

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
)

func TestParseConfig(t *testing.T) {
	c, err := ParseConfig([]byte(`{"include":["rep-*","tag:tool"],"exclude":["category:old"],"wait_seconds":2.5}`))
	if err != nil || strings.Join(c.Include, " ") != "rep-* tag:tool" || strings.Join(c.Exclude, " ") != "category:old" || c.Wait != 2500*time.Millisecond {
		t.Errorf("%+v, %v", c, err)
	}
	for _, empty := range []string{"", " \n", "{}"} {
		if c, err := ParseConfig([]byte(empty)); err != nil || c.Wait != DefaultWait || c.Include != nil {
			t.Errorf("%q: %+v, %v", empty, c, err)
		}
	}
	for text, path := range map[string]string{
		`{`: "", `[]`: "", `{"inklude":[]}`: "inklude", `{"include":"x"}`: "include", `{"wait_seconds":-1}`: "wait_seconds", `{"wait_seconds":1e9}`: "wait_seconds",
		`{"include":["["]}`: "", `{"include":["tag:"]}`: "", `{"exclude":[""]}`: "",
	} {
		_, err := ParseConfig([]byte(text))
		if f := fault.From(err); f == nil || f.Type != fault.Validation || f.Path != path {
			t.Errorf("%s: %+v", text, f)
		}
	}
}

func FuzzParseConfig(f *testing.F) {
	f.Add([]byte(`{"include":["a*"],"exclude":["tag:x"],"wait_seconds":1}`))
	f.Fuzz(func(_ *testing.T, data []byte) {
		if c, err := ParseConfig(data); err == nil {
			c.Offers(&Listing{Name: "a"})
		}
	})
}

func TestOffers(t *testing.T) {
	l := Listing{Name: "report-daily", Category: "finance", Metadata: json.RawMessage(`{"tags":["tool","daily"]}`)}
	for _, c := range []struct {
		include, exclude string
		want             bool
	}{
		{"", "", true},
		{"report-*", "", true},
		{"report", "", false}, // the whole name
		{"*daily", "", true},
		{"tag:tool", "", true},
		{"tag:to", "", false},
		{"tag:d*", "", true},
		{"category:finance", "", true},
		{"category:fin", "", false},
		{"nothing tag:tool", "", true},
		{"", "tag:daily", false},
		{"report-*", "category:*", false},
		{"tag:tool", "tag:other", true},
	} {
		config := Config{Include: strings.Fields(c.include), Exclude: strings.Fields(c.exclude)}
		if got := config.Offers(&l); got != c.want {
			t.Errorf("include %q, exclude %q: %v", c.include, c.exclude, got)
		}
	}
}
