package suite

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/internal/brief"
)

// stuck opens the stream of a run over a connection with a small buffer, and reads only the first line of the answer.
func (d *door) stuck(run string) {
	d.Helper()
	at, err := url.Parse(d.base())
	if err != nil {
		d.Fatal(err)
	}
	c, err := net.Dial("tcp", at.Host)
	if err != nil {
		d.Fatal(err)
	}
	d.Cleanup(func() { _ = c.Close() })
	if err := c.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
		d.Fatal(err)
	}
	_, _ = fmt.Fprintf(c, "GET /api/runs/%s/events HTTP/1.1\r\nHost: %s\r\n\r\n", run, at.Host) // if it fails, there is no answer
	if status, err := bufio.NewReaderSize(c, 16).ReadString('\n'); !strings.Contains(status, " 200 ") {
		d.Fatalf("%q %v", status, err)
	}
}

// memory returns the most memory that the server has had, in MiB.
func (d *door) memory() int {
	d.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", d.cmd.Process.Pid))
	if err != nil {
		d.Fatal(err)
	}
	found := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(status)
	kib, err := strconv.Atoi(string(found[1]))
	if err != nil {
		d.Fatal(err)
	}
	return kib >> 10
}

// TestMemoryOfStuckStreams holds that a server keeps little for clients of streams that read nothing, and that the clients of others get all of a
// long run in pieces.
func TestMemoryOfStuckStreams(t *testing.T) {
	brief.Skip(t)
	t.Parallel()
	p := newPlace(t)
	p.draft("long", `{"nodes":[{"id":"a","type":"shell","batch":{"items":[`+strings.Repeat("1,", 127)+`1]},"params":{"command":"yes | head -c 30000"}}],"edges":[]}`)
	run := p.start("long")
	p.must("pflow-exec", "wait", run)
	d := p.open("--toolsets", "runs")
	for range 40 {
		d.stuck(run)
	}
	if got := d.memory(); got > 60 {
		t.Errorf("40 streams took %d MiB of memory", got)
	}
	count := strings.Count(p.must("pflow-exec", "events", run), "\n")
	seen := 0
	for id := ""; ; {
		part := d.stream(run, id)
		if part.status == http.StatusNoContent {
			break
		}
		part.id = id
		if seen += len(part.rest()); part.id == id {
			t.Fatalf("no event after %s", id)
		}
		id = part.id
	}
	if seen != count {
		t.Errorf("the streams had %d events of %d", seen, count)
	}
}
