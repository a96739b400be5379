package suite

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/pflow-suite/pflow/internal/fakeprograms"
)

// TestKeptPrograms holds that requests of one command share a process, that each gets its answer, and that the process is started again after
// it has ended.
func TestKeptPrograms(t *testing.T) {
	f := fakeprograms.New(t)
	s := suiteOf(f)
	// It answers with the line that it has read, the first of two lines last, and dies of "die".
	f.Program("pflow-share", `
answer() { id=${1#*:}; printf '{"id":%s,"exit":3,"document":%s}\n' "${id%%,*}" "$1"; }
while read -r one; do
	case $one in *die*) echo why >&2; exit 7;; *alone*) answer "$one"; continue;; esac
	read -r two && answer "$two"
	answer "$one"
done
echo ended >> "$DIR/calls"`)
	ask := func(word string) (*Outcome, error) {
		return s.Run(t.Context(), Command{Program: "pflow-share", Args: []string{"serve"}, Stdin: []byte("{\n\"word\": \"" + word + "\"\n}"), Kept: true})
	}
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			word := fmt.Sprint("word", i)
			if o, err := ask(word); err != nil || o.Exit != 3 || !strings.HasSuffix(string(o.Output), `"arguments":{"word":"`+word+`"}}`) {
				t.Errorf("%s: %+v, %v", word, o, err)
			}
		})
	}
	all.Wait()
	if o, err := ask("die"); err != nil || o.Exit != 7 || len(o.Output) > 0 || o.Stderr != "why\n" {
		t.Errorf("the program ended instead of answering: %+v, %v", o, err)
	}
	if o, err := ask("alone"); err != nil || o.Exit != 3 {
		t.Errorf("after its end: %+v, %v", o, err)
	}
	around := Command{Program: "pflow-share", Args: []string{"serve"}, Stdin: []byte(`{"word":"alone"}`), Kept: true, Caller: []string{"BAGGAGE=b", "PFLOW_RUNS=r1,r2"}}
	if o, err := s.Run(t.Context(), around); err != nil || !strings.HasSuffix(string(o.Output), `"runs":"r1,r2","arguments":{"word":"alone"}}`) {
		t.Errorf("with runs around the call: %+v, %v", o, err)
	}
	if o, err := s.Run(t.Context(), Command{Program: "pflow-share", Args: []string{"serve"}, Stdin: []byte("{"), Kept: true}); err == nil {
		t.Errorf("no JSON: %+v", o)
	}
	s.Close()
	s.Close()
	if got := strings.Join(f.Calls(), ", "); got != "pflow-share serve, pflow-share serve, ended" {
		t.Errorf("called %s", got)
	}
	if o, err := (&Programs{Dir: t.TempDir(), Log: s.Log}).Run(t.Context(), Command{Program: "pflow-share", Kept: true, Stdin: []byte("{}")}); err == nil {
		t.Errorf("a program that is not there: %+v", o)
	}
}
