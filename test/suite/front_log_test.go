package suite

import (
	"strings"
	"testing"
)

// TestTheFrontLogsItsCommands: with --log-level debug the command line of each call is on standard error, without secrets and
// without inputs, and nothing but messages is on standard output.
func TestTheFrontLogsItsCommands(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	const secret = "of-the-settings-4711"
	p.write("home/settings.json", `{"env":{"anything":"`+secret+`"}}`)
	p.draft("greet", chain("echo hello"))
	c := p.connect("pflow-serve", "--log-level", "debug")
	for _, call := range [][2]string{
		{"browse_components", `{"query":"shell ` + secret + ` api_key=named-4711"}`},
		{"execute", `{"name":"greet","inputs":{"x":"input-4711"}}`},
		{"save_to_library", `{"draft_name":"greet","final_name":"hello","description":"It's new"}`},
	} {
		c.call(call[0], call[1])
	}
	_ = c.stdin.Close()
	_ = c.cmd.Wait()
	log := c.stderr.String()
	for _, want := range []string{"pflow-lib --hints=tools:core --max-bytes=8192 --quiet search --format json", " --quiet start --format json --name --inputs=- -- greet", "-- greet hello", "<redacted>", `'--description=It`} {
		if !strings.Contains(log, want) {
			t.Errorf("no %s in %s", want, log)
		}
	}
	if strings.Contains(log, "4711") {
		t.Errorf("a secret or an input is in %s", log)
	}
}
