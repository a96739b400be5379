package suitetools

import (
	"bytes"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
)

func homeIn(t *testing.T, dir string) *home.Home {
	t.Helper()
	h, err := home.Open(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// Servers that start at the same time have the same key.
func TestTheKeyIsCreatedOnce(t *testing.T) {
	dir := t.TempDir()
	keys := make([][]byte, 20)
	var creating sync.WaitGroup
	for i := range keys {
		creating.Go(func() {
			key, err := stateKey(t.Context(), homeIn(t, dir))
			if keys[i] = key; err != nil {
				t.Error(err)
			}
		})
	}
	creating.Wait()
	for _, key := range keys {
		if len(key) != keySize || !bytes.Equal(key, keys[0]) {
			t.Fatalf("%x and %x", key, keys[0])
		}
	}
	if info, err := os.Stat(homeIn(t, dir).Path(keyFile)); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info, err)
	}
}

func TestAKeyThatCannotBeTrusted(t *testing.T) {
	for _, c := range []struct {
		content string
		mode    os.FileMode
		want    fault.Type
	}{
		{"short", 0o600, fault.Validation}, {"0123456789abcdef0123456789abcdef", 0o644, fault.Security},
	} {
		h := homeIn(t, t.TempDir())
		if err := os.WriteFile(h.Path(keyFile), []byte(c.content), c.mode); err != nil {
			t.Fatal(err)
		}
		if key, err := stateKey(t.Context(), h); key != nil || fault.From(err).Type != c.want {
			t.Errorf("%x, %v", key, err)
		}
	}
}

func TestAStateEnds(t *testing.T) {
	now := time.Date(2026, 7, 28, 12, 0, 0, 0, time.UTC)
	key := bytes.Repeat([]byte{7}, keySize)
	arguments := []byte(`{"name": "w", "inputs": {"a": 1, "tok": "s3cret"}}`)
	state := asked{Tool: "execute", Arguments: digestOf(key, arguments), Run: "r01", Nodes: []string{"a"}, Expires: now.Add(stateLifetime).Unix()}
	text, err := state.seal(key)
	if err != nil {
		t.Fatal(err)
	}
	if got, f := unseal(key, text, "execute", []byte(`{"inputs":{"tok":"s3cret","a":1},"name":"w"}`), now.Add(stateLifetime-time.Second)); f != nil || got.Run != "r01" || got.Nodes[0] != "a" {
		t.Error(got, f)
	}
	for _, c := range []struct {
		key  []byte
		tool string
		now  time.Time
		want fault.Type
	}{
		{key, "execute", now.Add(stateLifetime), fault.Timeout}, {key, "run_wait", now, fault.Security}, {key[1:], "execute", now, fault.Security},
	} {
		if _, f := unseal(c.key, text, c.tool, arguments, c.now); f == nil || f.Type != c.want {
			t.Error(c.tool, c.now, f)
		}
	}
}

// A state belongs to the arguments of its call, and does not show them.
func TestAStateBelongsToItsArguments(t *testing.T) {
	now, key := time.Now(), bytes.Repeat([]byte{7}, keySize)
	state := asked{Tool: "w", Arguments: digestOf(key, []byte(`{"tok":"s3cret"}`)), Run: "r01", Nodes: []string{"a"}, Expires: now.Add(stateLifetime).Unix()}
	text, err := state.seal(key)
	if err != nil {
		t.Fatal(err)
	}
	for _, other := range []string{`{"tok":"another"}`, `{}`, ``, `{"tok":"s3cret","v":1}`} {
		if _, f := unseal(key, text, "w", []byte(other), now); f == nil || f.Type != fault.Security || f.Details["run_id"] != "r01" {
			t.Error(other, f)
		}
	}
	if digestOf(key, []byte(`{"tok":"s3cret"}`)) == digestOf(key[1:], []byte(`{"tok":"s3cret"}`)) {
		t.Error("the digest can be computed without the key")
	}
}
