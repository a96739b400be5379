package suite

import (
	"strings"
	"testing"
)

// The vars of the settings supply inputs: after the environment and env, before the default. They are not secrets.
func TestPlainValuesOfTheSettings(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.draft("telling", `{"inputs":{"place":{"type":"string","default":"by default"},"count":{"type":"integer","default":1}},
		"nodes":[{"id":"a","type":"echo","params":{"message":"${place} ${count}"}}]}`)
	says := func(want string, args ...string) {
		t.Helper()
		o := p.run("pflow-exec", append([]string{"run", "telling", "--format", "json"}, args...)...)
		if o.exit != 0 || !strings.Contains(o.stdout, `"`+want+`"`) {
			t.Errorf("not %q: %s", want, o)
		}
	}
	settings := func(command string) outcome {
		t.Helper()
		o := p.run("pflow-lib", append([]string{"settings"}, strings.Fields(command)...)...)
		if o.exit != 0 {
			t.Errorf("%s: %s", command, o)
		}
		return o
	}
	says("by default 1")
	settings("set-var place=plainly-here count=7")
	says("plainly-here 7")
	if o := settings("list-vars"); !strings.Contains(o.stdout, `"vars":{"count":"7","place":"plainly-here"}`) {
		t.Error(o)
	}
	if o := settings("show"); !strings.Contains(o.stdout, `"place":"plainly-here"`) {
		t.Error(o)
	}
	settings("set-env place=in-secret")
	says("<redacted> 7")
	if o := settings("show"); !strings.Contains(o.stdout, `"place":"<redacted>"`) || !strings.Contains(o.stdout, `"place":"plainly-here"`) {
		t.Error(o)
	}
	p.env = append(p.env, "place=of-the-environment")
	says("of-the-environment 7")
	says("given 7", "place=given")
	settings("unset-env place")
	settings("unset-var count")
	says("of-the-environment 1")
	if o := p.run("pflow-lib", "settings", "set-var", "api_token=x"); o.exit != 2 || !strings.Contains(o.stderr, "set-env") {
		t.Error(o)
	}
	settings("set-var count=many")
	if o := p.run("pflow-exec", "run", "telling"); o.exit != 2 || !strings.Contains(o.stderr, "count") {
		t.Error(o)
	}
	p.write("home/settings.json", `{"vars":{"count":7}}`)
	if o := p.run("pflow-exec", "run", "telling"); o.exit != 2 || !strings.Contains(o.stderr, "vars") {
		t.Error(o)
	}
}
