package suite

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/tidwall/gjson"
)

// hangingServer is an MCP server that never answers a call, and writes what it reads to the file that its argument names.
const hangingServer = `while IFS= read -r line; do
	id=$(printf '%s\n' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
	case $line in
	*'"method":"initialize"'*) result='{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"t","version":"1"}}' ;;
	*'"method":"tools/list"'*) result='{"tools":[{"name":"hang","inputSchema":{"type":"object"}}]}' ;;
	*) printf '%s\n' "$line" >>"$1"; continue ;;
	esac
	printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
echo end >>"$1"`

// A server is told which call is cancelled before its input ends, when a run or a call is interrupted.
func TestAnInterruptionIsToldToTheServer(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	log := p.write("log", "")
	p.must("pflow-sync", "add", "h", "--", "sh", "-c", hangingServer, "server", log)
	p.write("w.json", `{"nodes":[{"id":"n","type":"mcp-h-hang"}]}`)
	for _, line := range []string{"pflow-exec run w.json", "pflow-sync call h hang"} {
		p.write("log", "")
		args := strings.Fields(line)
		cmd := p.command(args[0], args[1:]...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		p.eventually("the call", func() bool { return strings.Contains(p.read("log"), "tools/call") })
		_ = cmd.Process.Signal(os.Signal(syscall.SIGINT))
		_ = cmd.Wait()
		lines := strings.Split(strings.TrimSpace(p.read("log")), "\n")
		call, told := "", ""
		for _, l := range lines {
			switch gjson.Get(l, "method").Str {
			case "tools/call":
				call = gjson.Get(l, "id").Raw
			case "notifications/cancelled":
				told = gjson.Get(l, "params.requestId").Raw
			}
		}
		if call == "" || told != call || lines[len(lines)-1] != "end" {
			t.Errorf("%s: %q", line, lines)
		}
	}
}
