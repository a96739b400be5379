package redact

import "testing"

func TestAddAllKnowsEachValue(t *testing.T) {
	r := New()
	r.AddAll("n")
	if !r.Empty() {
		t.Error("no value is a secret")
	}
	r.AddAll("n", "first-value", "${x}", "", "a-template-${y}")
	for in, want := range map[string]string{"a first-value": "a " + Mark, "${x}": Mark, "is a-template-${y}": "is " + Mark, "": ""} {
		if got := r.Text(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
	if got := string(r.Named([]byte(`"first-value"`))); got != `"<redacted:n>"` {
		t.Error(got)
	}
}
