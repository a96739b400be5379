package access_test

import (
	"os"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/mcp/access"
)

// TestTokens holds that a token is found by itself alone, that the home does not have it, and that it is gone when it is removed.
func TestTokens(t *testing.T) {
	h, err := home.Open(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	if tokens, err := access.List(h); tokens != nil || err != nil {
		t.Errorf("%v %v", tokens, err)
	}
	first, _, err := access.Add(t.Context(), h, access.Token{Name: "first", Flows: []string{"greet"}})
	if err != nil {
		t.Fatal(err)
	}
	second, _, err := access.Add(t.Context(), h, access.Token{Name: "second"})
	if err != nil || first == second {
		t.Fatal(err)
	}
	if _, _, err := access.Add(t.Context(), h, access.Token{Name: "first"}); fault.From(err) == nil || fault.From(err).Type != fault.AlreadyExists {
		t.Errorf("a name that is taken: %v", err)
	}
	content, err := os.ReadFile(h.Path(access.File))
	info, _ := os.Stat(h.Path(access.File))
	if err != nil || strings.Contains(string(content), strings.TrimPrefix(first, "pflow_")) || info.Mode().Perm() != 0o600 {
		t.Errorf("%s %v %v", content, info.Mode(), err)
	}
	tokens, err := access.List(h)
	if err != nil || len(tokens) != 2 {
		t.Fatal(tokens, err)
	}
	if found := access.Find(tokens, first); found == nil || found.Name != "first" || len(found.Flows) != 1 {
		t.Errorf("%+v", found)
	}
	for _, wrong := range []string{"", "pflow_", first + " ", first[:len(first)-1], strings.ToUpper(first), tokens[0].Hash, "first"} {
		if found := access.Find(tokens, wrong); found != nil {
			t.Errorf("%q is %+v", wrong, found)
		}
	}
	if err := access.Remove(t.Context(), h, "first"); err != nil {
		t.Fatal(err)
	}
	if tokens, _ = access.List(h); access.Find(tokens, first) != nil || access.Find(tokens, second) == nil {
		t.Errorf("after removal: %+v", tokens)
	}
	if err := access.Remove(t.Context(), h, "first"); fault.From(err) == nil || fault.From(err).Type != fault.NotFound {
		t.Errorf("removed twice: %v", err)
	}
}

// TestBrokenFileAdmitsNobody holds that a file that is damaged is an error, and not a home without tokens.
func TestBrokenFileAdmitsNobody(t *testing.T) {
	h, err := home.Open(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Write([]byte(`{"tokens":[{"na`), 0o600, access.File); err != nil {
		t.Fatal(err)
	}
	if tokens, err := access.List(h); err == nil || tokens != nil {
		t.Errorf("%v %v", tokens, err)
	}
}
