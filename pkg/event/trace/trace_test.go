package trace

import (
	"math/rand/v2"
	"strings"
	"testing"
)

const given = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

func TestBegin(t *testing.T) {
	s := Begin(given)
	if s.Trace != "0af7651916cd43dd8448eb211c80319c" || s.Parent != "b7ad6b7169203331" || s.ID == s.Parent || !strings.HasSuffix(s.String(), s.ID+"-01") {
		t.Errorf("%+v %s", s, s)
	}
	child := s.Child(rand.Uint64)
	if child.Trace != s.Trace || child.Parent != s.ID || child.ID == s.ID {
		t.Errorf("%+v below %+v", child, s)
	}
	if again := Begin(child.String()); again.Trace != s.Trace || again.Parent != child.ID {
		t.Errorf("%+v", again)
	}
}

func TestWhatIsNoTraceparentBeginsATrace(t *testing.T) {
	for name, text := range map[string]string{
		"nothing": "", "short": given[:54], "long": given + "-x", "capitals": strings.ToUpper(given), "no digits": strings.Replace(given, "af", "xy", 1),
		"no trace": "00-00000000000000000000000000000000-b7ad6b7169203331-01", "no span": "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
		"version ff": "ff" + given[2:], "other separators": strings.ReplaceAll(given, "-", "_"), "a later version with a tail": "01" + given[2:] + "x",
	} {
		s := Begin(text)
		if s.Parent != "" || len(s.Trace) != 32 || len(s.ID) != 16 || strings.Contains(text, s.Trace) || len(s.String()) != 55 {
			t.Errorf("%s: %+v", name, s)
		}
		if Begin(text).Trace == s.Trace {
			t.Errorf("%s: the same trace twice", name)
		}
	}
	if s := Begin("01" + given[2:] + "-more"); s.Parent == "" {
		t.Error("a later version is not read")
	}
}

func FuzzBegin(f *testing.F) {
	f.Add(given)
	f.Fuzz(func(t *testing.T, text string) {
		if s := Begin(text); len(s.String()) != 55 || s.Parent != "" && Begin(s.String()).Trace != s.Trace {
			t.Errorf("%q: %+v", text, s)
		}
	})
}
