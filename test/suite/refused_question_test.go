package suite

import (
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// A page that a person is to open, and a form that asks for a secret, end the call with an error that says so.
func TestQuestionsThatAreNotAsked(t *testing.T) {
	t.Parallel()
	withTasks(t, func(p *place, _ string) {
		p.write("w.json", taskRun("page"))
		o := p.run("pflow-exec", "run", "w.json", "--format", "json")
		if f := gjson.Get(o.stdout, "error"); o.exit != 1 || f.Get("type").Str != "execution_error" || f.Get("details.url").Str != "https://login.test/x" || !strings.Contains(f.Get("message").Str, "Log in") {
			p.Error(o)
		}
		p.write("w.json", taskRun("secret"))
		o = p.run("pflow-exec", "run", "w.json", "--format", "json")
		if f := gjson.Get(o.stdout, "error"); o.exit != 1 || f.Get("type").Str != "execution_error" || !strings.Contains(f.Get("message").Str, "secret key") {
			p.Error(o)
		}
	})
}
