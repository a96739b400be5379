package suite

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// hostile holds what text can do to a terminal: write its clipboard, set its title, clear it, move the cursor, change colors by an
// 8-bit control character, overwrite a line, ring.
const hostile = "\x1b]52;c;ZXZpbA==\a|\x1b]0;evil\x1b\\|\x1b[2J\x1b[1;1H|\u009b31m|before\rafter|\a|\x7f"

// hostilePlace has a run whose nodes print hostile text, and names and files that hold it.
func hostilePlace(t *testing.T) *place {
	t.Helper()
	p := newPlace(t)
	quoted, err := json.Marshal(hostile)
	if err != nil {
		t.Fatal(err)
	}
	text := string(quoted)
	p.write("hostile.txt", hostile+"\n")
	p.write("good.json", `{"nodes":[{"id":"a","type":"shell","purpose":`+text+`,"params":{"command":"cat hostile.txt; cat hostile.txt >&2"}}],"outputs":{"out":{"source":"${a.stdout}"},"more":{"source":"${a.stderr}"}}}`)
	p.write("bad.json", `{"nodes":[{"id":"b","type":"shell","params":{"command":"cat hostile.txt; cat hostile.txt >&2; exit 3"}}]}`)
	p.write("wrong.json", `{"nodes":[{"id":"b","type":`+text+`}]}`)
	p.draft("drafted", `{"description":`+text+`,"nodes":[{"id":"a","type":"echo"}],"inputs":{"x":{"type":"string","default":`+text+`}}}`)
	p.write("home/workflows/raw.pflow.md", "# Raw\n\n"+hostile+"\n\n## Steps\n\n### a\n\nSay it.\n\n- type: echo\n- message: x\n")
	p.write("home/mcp-servers.json", `{"mcpServers":{"server":{"command":"cat","args":[`+text+`]}}}`)
	p.write("home/settings.json", `{"env":{"NAME":"s`+text[1:]+`}}`)
	return p
}

// onPTY runs a program on a terminal and returns what it writes there. Each argument HOSTILE becomes the hostile text.
func (p *place) onPTY(term, line string) string {
	p.Helper()
	args := strings.Fields(line)
	for i, arg := range args {
		args[i] = strings.ReplaceAll(arg, "HOSTILE", hostile)
	}
	cmd := p.command(args[0], args[1:]...)
	cmd.Env = append(slices.Clip(cmd.Env), "TERM="+term)
	s := p.session(cmd, 100)
	s.show()
	_ = cmd.Wait()
	<-s.read
	return strings.ReplaceAll(s.sent.String(), "\r\n", "\n")
}

func TestATerminalIsSafeFromWhatNodesPrint(t *testing.T) {
	t.Parallel()
	p := hostilePlace(t)
	p.run("pflow-exec", "run", "bad.json")
	p.must("pflow-exec", "run", "good.json")
	for _, line := range []string{
		"pflow-exec run good.json", "pflow-exec run bad.json", "pflow-exec run good.json --print out", "pflow-exec run good.json --format json", "pflow-exec run bad.json --format ndjson",
		"pflow-exec run wrong.json", "pflow-exec run HOSTILE.json", "pflow-exec run good.json HOSTILE=1", "pflow-exec HOSTILE",
		"pflow-exec logs last", "pflow-exec logs last a", "pflow-exec logs last a --format ndjson", "pflow-exec show last", "pflow-exec show last a", "pflow-exec status last",
		"pflow-exec list", "pflow-exec wait last", "pflow-exec wait last --print out", "pflow-exec events last", "pflow-exec report last", "pflow-exec resume last",
		"pflow-lib list --drafts", "pflow-lib show raw", "pflow-lib show drafted", "pflow-lib describe drafted", "pflow-lib check wrong.json", "pflow-lib check HOSTILE.json",
		"pflow-lib search HOSTILE", "pflow-lib graph good.json", "pflow-lib settings list-env --show-values", "pflow-sync list", "pflow-sync call HOSTILE HOSTILE",
		"veloflux-mcp call HOSTILE", "veloflux-mcp read HOSTILE",
	} {
		t.Run(line, func(t *testing.T) {
			q := &place{T: t, dir: p.dir, home: p.home, env: p.env}
			shown := q.onPTY("dumb", line)
			control := func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }
			if shown == "" || !utf8.ValidString(shown) || strings.ContainsFunc(shown, control) {
				t.Errorf("%q", shown)
			}
			// The live display has sequences of its own.
			shown = q.onPTY("xterm", line)
			for part := range strings.SplitSeq(hostile, "|") {
				if control := strings.IndexFunc(part, unicode.IsControl); part != "\x7f" && strings.Contains(shown, part[control:]) && part != "\a" {
					t.Errorf("%q is in %q", part, shown)
				}
			}
			if strings.ContainsAny(shown, "\a\x7f\u009b") {
				t.Errorf("%q", shown)
			}
		})
	}
}

// With --raw, and off a terminal, the text is as the node printed it.
func TestRawIsWhatNodesPrint(t *testing.T) {
	t.Parallel()
	needs(t, "python3")
	p := hostilePlace(t)
	p.must("pflow-sync", "add", "hostile", "--", "python3", p.write("hostile.py", strings.Replace(mcpOfSize, `"x" * m["params"]["arguments"]["n"]`, "json.loads("+quote(quote(hostile))+")", 1)))
	p.must("pflow-exec", "run", "good.json")
	for _, line := range []string{"pflow-exec logs last a", "pflow-exec show last a", "pflow-exec run good.json --print out -q", "pflow-exec wait last --print out", "pflow-lib show raw", "pflow-sync call hostile give"} {
		if shown := p.onPTY("dumb", line+" --raw"); !strings.Contains(shown, hostile) {
			t.Errorf("%s --raw: %q", line, shown)
		}
		if shown := p.onPTY("dumb", line); !strings.Contains(shown, "before␍after") {
			t.Errorf("%s: %q", line, shown)
		}
		args := strings.Fields(line + " --format text")
		if shown := p.must(args[0], args[1:]...); !strings.Contains(shown, hostile) {
			t.Errorf("%s, piped: %q", line, shown)
		}
	}
}
