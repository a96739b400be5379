package suite

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/internal/golden"
	"github.com/pflow-suite/pflow/pkg/terminal/cells"
)

// shownWide has values that are hard to show: long, of several lines, with wide characters, empty.
const shownWide = `{"inputs":{"word":{"type":"string","default":"日本語"}},"nodes":[
	{"id":"good","type":"shell","params":{"command":"echo \"${word}\"; printf '%s\\n' 'a second line of text that is longer than the eighty columns of this terminal, by far'"}},
	{"id":"名","type":"echo","params":{"message":"x"}},
	{"id":"compile","type":"shell","params":{"command":"echo \"compiling ${good.stdout}\"; echo 'main.c:3: error: expected ; before }' >&2; exit 2"}},
	{"id":"after","type":"echo","params":{"message":"${compile.stdout} and ${名.echo}"}}]}`

// Each command is run on a terminal of 80 columns.
func TestLooks(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("wide.json", strings.ReplaceAll(shownWide, "名", "name"))
	p.write("two.json", `{"nodes":[{"id":"a","type":"shell","params":{"command":"echo one; echo two"}},{"id":"b","type":"echo","params":{"message":"three"}},{"id":"c","type":"shell","params":{"command":"true"}}]}`)
	p.write("wrong.json", "{\"nodes\":[\n\t{\"id\":\"日本\",\"type\":\"shel\",\"purpose\":\""+strings.Repeat("日本e\u0301 ", 30)+"\",\"paramz\":{\"command\":\"echo\"}}]}")
	p.write("asks.json", `{"nodes":[{"id":"deploy","type":"shell","approval":{"question":"Deploy it?"},"params":{"command":"true"}}]}`)
	p.draft("long", `{"description":"`+strings.Repeat("Reads a zebra, 日本語, and then another. ", 5)+`","nodes":[{"id":"a","type":"echo"}]}`)
	var screens strings.Builder
	for _, line := range []string{
		"pflow-exec run two.json --quiet", "pflow-exec run wide.json --quiet", "pflow-exec status last", "pflow-exec show last", "pflow-exec show last good",
		"pflow-exec show last compile", "pflow-exec show last after", "pflow-lib check wrong.json", "pflow-lib search zebra", "pflow-lib search zebra --long", "pflow-lib list --drafts",
		"pflow-lib describe read-file", "pflow-exec run asks.json --quiet </dev/null", "pflow-exec status last", "pflow-exec show last", "pflow-exec report last", "pflow-sync doctor",
	} {
		s := p.session(p.command("sh", "-c", line), 80)
		s.show()
		_ = s.cmd.Wait()
		<-s.read
		_, _ = fmt.Fprintf(&screens, "$ %s\n", line)
		for i, text := range s.lines() {
			if cells.Width(s.term.Lines()[i]) > 80 {
				t.Errorf("%s: more than 80 columns: %s", line, text)
			}
			_, _ = fmt.Fprintln(&screens, text)
		}
	}
	golden.Compare(t, "testdata/looks.txt", screens.String())
}
