package input

import (
	"errors"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/fault"
)

func TestCheckKeys(t *testing.T) {
	t.Parallel()
	if err := CheckKeys("The file", []byte(`{"a":{"b":1},"b":{"b":2}}`)); err != nil {
		t.Errorf("got %v, want no error", err)
	}
	err := CheckKeys("The file", []byte(`{"x":[{"b":1,"b":2}]}`))
	f, ok := errors.AsType[*fault.Fault](err)
	if !ok || f.Type != fault.Validation || f.Path != "x[0].b" || f.Message != `The file has the key "b" twice in one object` {
		t.Errorf("got %+v, want a usage_error at x[0].b", err)
	}
	long := strings.Repeat("k", 10_000)
	if err := CheckKeys("The file", []byte(`{"`+long+`":1,"`+long+`":2}`)); err == nil || len(err.Error()) > 1000 {
		t.Errorf("got %.100v, want a short error", err)
	}
}
