package veloflux

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
)

func TestURLs(t *testing.T) {
	for given, base := range map[string]string{
		"http://127.0.0.1:8080":        "http://127.0.0.1:8080",
		"http://127.0.0.1:8080///":     "http://127.0.0.1:8080",
		"127.0.0.1:8080":               "http://127.0.0.1:8080",
		"localhost:8080/proxy/velo/":   "http://localhost:8080/proxy/velo",
		"HTTPS://Example.com/A%2Fb":    "https://Example.com/A%2Fb",
		"http://[::1]:8080/x":          "http://[::1]:8080/x",
		"http://ann:s3cret@h:1/x":      "http://h:1/x",
		"ann:s3cret@h/x":               "http://h/x",
		"http://h:/x":                  "http://h/x",
		"http://h/流":                   "http://h/%E6%B5%81",
		"http://ann:p%40ss%2Fword@h:1": "http://h:1",
	} {
		if m, err := NewManager(Config{URL: given}); err != nil || m.address.base != base {
			t.Errorf("%q: %v, want %s", given, err, base)
		}
	}
}

func TestBlanksAroundAURL(t *testing.T) {
	if m, err := NewManager(Config{URL: " https://h/p\n"}); err != nil || m.address.base != "https://h/p" {
		t.Error(err)
	}
}

func TestURLsThatAreNone(t *testing.T) {
	for given, says := range map[string]string{
		"": "no host", "://": "cannot be read", "http://": "no host", "http://:8080": "no host", "/x": "no host",
		"ftp://h": "must begin with http", "file:///etc/passwd": "must begin with http", "unix:///run/x": "must begin with http",
		"http://h/?q=s3cret": "query", "http://h/x?": "query", "http://h/#s3cret": "fragment",
		"http://h:99999": "port", "http://h:0": "port", "http://h:s3cret": "cannot be read",
		"http://h/a/../b": "segment . or ..", "http://h/%2e%2e/b": "segment . or ..", "http://h/.": "segment . or ..",
		"http://ann:s3cret@h/%zz": "cannot be read", "http://ann:s3cret@/": "no host", "ann:s3cret://h": "must begin with http", "http://h\x00/": "cannot be read",
	} {
		_, err := NewManager(Config{URL: given})
		f, ok := errors.AsType[*fault.Fault](err)
		if !ok || f.Type != fault.Usage || !strings.Contains(f.Message, says) || len(f.Suggestions) == 0 || strings.Contains(f.Error(), "s3cret") {
			t.Errorf("%q: %v, want one with %q", given, err, says)
		}
	}
	if _, err := NewManager(Config{URL: "http://h", Timeout: -time.Second}); err == nil {
		t.Error("less than no time is taken for a timeout")
	}
	if m, err := NewManager(Config{URL: "http://h"}); err != nil || m.timeout != 10*time.Second {
		t.Errorf("without a timeout: %v", err)
	}
}
