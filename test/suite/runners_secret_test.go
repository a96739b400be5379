package suite

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// TestADocumentWithALongSecretIsMarked: the text of a parameter that is sent as it is read counts too.
func TestADocumentWithALongSecretIsMarked(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("w.json", `{"inputs":{"pin":{"type":"string","secret":true}},"nodes":[
		{"id":"a","type":"shell","params":{"command":"printf %s ${pin}; head -c 3000000 /dev/zero | tr '\\0' x"}},
		{"id":"b","type":"shell","runs_on":"seen","params":{"command":"wc -c","stdin":"${a.stdout}"}}]}`)
	for pin, secret := range map[string]bool{"hunter22-hunter22": true, "": false} {
		o := p.run("pflow-exec", "run", "w.json", "pin="+pin, "--print", "b.stdout", "--runs-on", "seen=tee document | pflow-exec node")
		document, err := os.ReadFile(filepath.Join(p.dir, "document"))
		if err != nil || o.exit != 0 {
			t.Fatal(o, err)
		}
		if got := gjson.GetBytes(document, "secret").Bool(); got != secret || len(document) < 3000000 || strings.Contains(string(document), "hunter22") != secret {
			t.Errorf("a document of %d bytes has the mark %t, want %t", len(document), got, secret)
		}
	}
}
