package suite

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tidwall/gjson"
)

// TestARunWaitsForConfirmations: a node runs only when the end of the one before it is confirmed.
func TestARunWaitsForConfirmations(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		confirms int64 // the number of the last event that is confirmed; then the pipe is closed
		ran      string
		status   string
	}{
		"all":                              {1 << 40, "a\nb\n", "completed"},
		"only that the run began":          {1, "a\n", "cancelled"},
		"none":                             {0, "", "cancelled"},
		"what is no number":                {-1, "", "cancelled"},
		"all but the end of the last node": {3, "a\nb\n", "completed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.write("w.json", `{"nodes":[{"id":"a","type":"shell","params":{"command":"echo a >> ran"}},{"id":"b","type":"shell","params":{"command":"echo b >> ran"}}],"edges":[{"from":"a","to":"b"}]}`)
			p.write("ran", "")
			path := filepath.Join(p.dir, "pipe")
			if err := syscall.Mkfifo(path, 0o600); err != nil {
				t.Fatal(err)
			}
			pipe, err := os.OpenFile(path, os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			cmd := p.command("pflow-exec", "run", "w.json", "--confirm", "pipe", "--format", "ndjson")
			out, err := cmd.StdoutPipe()
			if err == nil {
				err = cmd.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			if c.confirms < 0 {
				_, _ = fmt.Fprint(pipe, "yes\n\n")
			}
			last := ""
			for lines := bufio.NewScanner(out); lines.Scan(); {
				last = lines.Text()
				seq := gjson.Get(last, "seq").Int()
				if seq <= c.confirms {
					_, _ = fmt.Fprintln(pipe, seq)
				}
				if seq == max(1, c.confirms) {
					_ = pipe.Close()
				}
			}
			if err = cmd.Wait(); (err == nil) != (c.status == "completed") {
				t.Errorf("it ended with %v", err)
			}
			_ = pipe.Close()
			if status := gjson.Get(last, "status").Str; status != c.status || p.read("ran") != c.ran {
				t.Errorf("it ended %s, and %q ran", status, p.read("ran"))
			}
		})
	}
	p := newPlace(t)
	p.write("w.json", `{"nodes":[]}`)
	for _, args := range [][]string{{"--confirm", "absent"}, {"--confirm", "w.json"}, {"--confirm", "w.json", "--format", "json"}} {
		if o := p.run("pflow-exec", append([]string{"run", "w.json"}, args...)...); o.exit != 2 || !strings.Contains(o.stdout, `"usage_error"`) {
			t.Errorf("%q: %s", args, o)
		}
	}
}
