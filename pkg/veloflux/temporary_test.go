package veloflux

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pflow-suite/pflow/pkg/proc"
)

func TestTemporaryIDsAreReadBack(t *testing.T) {
	at := time.UnixMilli(1_790_000_000_123)
	id := temporaryID{proc.Owner{Machine: "web-1-0123456789ab", PID: 42, Started: "987654"}, at, "abc234"}
	const want = "__veloflux_mcp_verify__web-1-0123456789ab_42_987654_1790000000123_abc234"
	if id.String() != want {
		t.Errorf("got %s", id)
	}
	if back, ok := parseTemporary(want); !ok || back != id {
		t.Errorf("read back as %+v, %v", back, ok)
	}
	for _, other := range []string{
		"", "p1", "__nl2pipeline_tmp__0123", temporaryPrefix, want + "_x", want[1:], strings.Replace(want, "_42_", "_+42_", 1),
		strings.Replace(want, "_42_", "_042_", 1), strings.Replace(want, "_42_", "_x_", 1), temporaryPrefix + "a_1_2_3",
		strings.ToUpper(want), " " + want,
	} {
		if got, ok := parseTemporary(other); ok {
			t.Errorf("%q is taken for a temporary id: %+v", other, got)
		}
	}
}

func TestLeftoversAreTold(t *testing.T) {
	now := time.Now()
	self := proc.Self()
	if self.Started == "0" {
		t.Skip("this system does not tell when a process was started")
	}
	gone := self
	gone.Started += "1"
	elsewhere := proc.Owner{Machine: "elsewhere-0123456789ab", PID: os.Getpid(), Started: "1"}
	for _, tc := range []struct {
		name  string
		owner proc.Owner
		age   time.Duration
		want  bool
	}{
		{"a live process's", self, time.Second, false},
		{"a live process's that takes long", self, time.Hour, false},
		{"a dead process's", gone, time.Second, true},
		{"another machine's", elsewhere, 9 * time.Minute, false},
		{"another machine's, old", elsewhere, 11 * time.Minute, true},
		{"another machine's whose clock is ahead", elsewhere, -time.Hour, false},
	} {
		if got := (temporaryID{tc.owner, now.Add(-tc.age), "r"}).leftover(now); got != tc.want {
			t.Errorf("%s: leftover %v", tc.name, got)
		}
	}
}

func TestTemporaryIDsAreTheirOwn(t *testing.T) {
	temporary := newTemporaries(nil, nil)
	seen := map[string]bool{}
	ids := make(chan string)
	for range 100 {
		if !temporary.while(func(id string) { ids <- id }) {
			t.Fatal("closed")
		}
		id := <-ids
		if seen[id] || !regexp.MustCompile(`^[a-z0-9_-]{60,160}$`).MatchString(id) {
			t.Fatalf("%q", id)
		}
		if _, ok := parseTemporary(id); !ok {
			t.Fatalf("%q cannot be read", id)
		}
		seen[id] = true
	}
	if err := temporary.close(t.Context()); err != nil {
		t.Error(err)
	}
	if temporary.while(func(string) { t.Error("runs after the end") }) {
		t.Error("begins after the end")
	}
}
