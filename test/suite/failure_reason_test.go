package suite

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// failingPrograms are the outputs of programs that fail, and what of them says why.
var failingPrograms = map[string]struct {
	stdout, stderr string
	exit           int
	why            string
}{
	"pytest": {"============================= test session starts ==============================\ncollected 40 items\n\n" + strings.Repeat("test_other.py .                                                          [  2%]\n", 40) +
		"=================================== FAILURES ===================================\n__________________________________ test_login __________________________________\n\n    def test_login():\n>       assert status == 200\nE       assert 401 == 200\n\ntest_login.py:3: AssertionError\n" +
		"=========================== short test summary info ============================\nFAILED test_login.py::test_login - assert 401 == 200\n========================= 1 failed, 39 passed in 0.12s =========================\n", "", 1, "FAILED test_login.py::test_login"},
	"go test": {"ok  \texample.com/app/a\t0.002s\n--- FAIL: TestLogin (0.00s)\n    login_test.go:6: got 401, want 200\nFAIL\nFAIL\texample.com/app\t0.003s\nFAIL\n", "", 1, "--- FAIL: TestLogin (0.00s)"},
	"tsc":     {"src/login.ts(3,7): error TS2322: Type 'string' is not assignable to type 'number'.\n", "", 2, "src/login.ts(3,7): error TS2322"},
	"eslint":  {"\n/app/src/login.js\n  3:7  error  'status' is assigned a value but never used  no-unused-vars\n\n✖ 1 problem (1 error, 0 warnings)\n\n", "", 1, "no-unused-vars"},
	"jest":    {"FAIL src/login.test.js\n  ✕ logs in (3 ms)\n\n  ● logs in\n\n    expect(received).toBe(expected)\n\nTests:       1 failed, 1 total\n", "", 1, "✕ logs in"},
	"cargo": {"\nrunning 1 test\ntest tests::login ... FAILED\n\nfailures:\n    tests::login\n\ntest result: FAILED. 0 passed; 1 failed\n", "   Compiling app v0.1.0 (/app)\n    Finished test profile in 0.41s\n     Running unittests src/lib.rs\n" +
		"error: test failed, to rerun pass `--lib`\n", 101, "tests::login"},
	"npm": {"\n> app@1.0.0 test\n> node login.test.js\n\nnot ok 1 - logs in\n", "npm error Lifecycle script `test` failed with error:\nnpm error code 1\nnpm error path /app\n", 1, "not ok 1 - logs in"},
}

// TestAFailureSaysWhyAtEveryDoor holds that what a program prints as the reason of its failure, on either stream, is seen wherever a failed
// run is seen.
func TestAFailureSaysWhyAtEveryDoor(t *testing.T) {
	t.Parallel()
	for name, c := range failingPrograms {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.write("out", c.stdout)
			p.write("err", c.stderr)
			p.draft("w", fmt.Sprintf(`{"nodes":[{"id":"test","type":"shell","params":{"command":"cat '%[1]s/out'; cat '%[1]s/err' >&2; exit %[2]d"}}]}`, p.dir, c.exit))
			says := func(door, text string) {
				t.Helper()
				if !strings.Contains(text, c.why) {
					t.Errorf("%s has no %q: %s", door, c.why, text)
				}
			}
			o := p.run("pflow-exec", "run", "w")
			says("standard error", o.stderr)
			gjson.ForEachLine(o.stdout, func(e gjson.Result) bool {
				if kind := e.Get("event").Str; kind == "node_failed" || kind == "run_finished" {
					says(kind, e.Get("error.message").Str)
					if n := len(e.Get("error.message").Str); n > 2<<10 {
						t.Errorf("the message of %s has %d bytes, want at most 2 KiB", kind, n)
					}
				}
				return true
			})
			for _, door := range []string{"wait last", "show last", "status last", "logs last test", "report last"} {
				says(door, asPrinted(p.run("pflow-exec", strings.Fields(door)...).stdout))
			}
			client := p.connect("pflow-serve")
			answer := client.exchange("execute", `{"name":"w"}`)
			says("execute", gjson.Get(quoted(answer), "result.structuredContent.error.message").Str)
			says("the text of execute", asPrinted(gjson.Get(quoted(answer), "result.content.0.text").Str))
			says("describe_workflow", gjson.Get(quoted(client.exchange("describe_workflow", `{"name":"w","run_id":"last","node":"test"}`)), "result.content.0.text").Str)
			client.leave()
			d := p.open("--toolsets", "core")
			says("execute over HTTP", d.content("execute", `{"name":"w"}`).Get("error.message").Str)
			s := p.session(p.command("pflow-exec", "run", "w"), 100)
			s.show()
			_ = s.cmd.Wait()
			<-s.read
			says("a terminal", s.written())
		})
	}
}

// asPrinted returns JSON or HTML with the characters that programs print most as they are.
func asPrinted(text string) string {
	return strings.NewReplacer(`\"`, `"`, `\u003e`, ">", "&#39;", "'", "&gt;", ">", "&quot;", `"`, "&#34;", `"`).Replace(text)
}

// TestWhatAFailureCosts holds how many bytes a client of tools reads of a failure and of a question, the output's lines apart.
func TestWhatAFailureCosts(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.draft("fails", `{"nodes":[{"id":"a","type":"shell","params":{"command":"echo FAIL TestLogin; exit 1"}}]}`)
	p.draft("asks", `{"nodes":[{"id":"build","type":"shell","params":{"command":"echo built"}},{"id":"deploy","type":"shell","approval":{"question":"Deploy it?"},"params":{"command":"echo deployed"}}],"edges":[{"from":"build","to":"deploy"}]}`)
	c := p.connect("pflow-serve")
	defer c.leave()
	for name, most := range map[string]int{"fails": 900 + len("FAIL TestLogin"), "asks": 700} {
		text := gjson.Get(quoted(c.exchange("execute", `{"name":"`+name+`"}`)), "result.content.0.text").Str
		if len(text) > most || len(text) < 200 {
			t.Errorf("%s: the text has %d bytes, want at most %d: %s", name, len(text), most, text)
		}
	}
}
