package node

import (
	"strings"
	"testing"
)

func TestSaidAtEnd(t *testing.T) {
	full := strings.Repeat("x", maxTail)
	for name, c := range map[string]struct{ end, want string }{
		"nothing":        {"", ""},
		"space alone":    {" \n", ""},
		"short":          {"\n no paper\n", "no paper"},
		"no text":        {"no \xff paper", "no \uFFFD paper"},
		"almost cut":     {full[1:], full[1:]},
		"cut":            {full, "…" + full},
		"cut in space":   {" " + full[2:] + "\n", "…" + full[2:]},
		"cut and marked": {"…" + full, "…" + full},
	} {
		if got := tailText([]byte(c.end)); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestCutBytesEndWithAnEllipsis(t *testing.T) {
	garbage := strings.Repeat("\xff", 40)
	for _, text := range []string{"hunter22", "h\u00e9\u00e9\u00e9\u00e9\u00e9"} {
		for most := 41; most < 48; most++ {
			if got := shortenBytes([]byte(garbage+text), most); !strings.HasSuffix(got, "…") && most+1 < len(garbage+text) || strings.HasSuffix(got, "\uFFFD…") {
				t.Errorf("%d bytes: %q", most, got)
			}
		}
	}
}
