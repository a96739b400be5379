package main

import (
	"strings"
	"testing"
)

func TestTally(t *testing.T) {
	tests := []struct {
		name  string
		in    string
		want  counts
		shows []string
		hides []string
	}{
		{
			name: "passing tests are a line a package",
			in: `{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestA","Output":"said in passing\n"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p","Elapsed":0.25}`,
			want: counts{passed: 1}, shows: []string{"ok    p  1 passed  0.2s\n"}, hides: []string{"said in passing"},
		},
		{
			name: "a test with subtests is not counted beside them, and a failure is shown in full",
			in: `{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"run","Package":"p","Test":"TestA/x"}
{"Action":"output","Package":"p","Test":"TestA/x","Output":"=== RUN   TestA/x\n"}
{"Action":"output","Package":"p","Test":"TestA/x","Output":"    a_test.go:1: x is wrong\n"}
{"Action":"fail","Package":"p","Test":"TestA/x"}
{"Action":"pass","Package":"p","Test":"TestA/y"}
{"Action":"skip","Package":"p","Test":"TestA/z"}
{"Action":"fail","Package":"p","Test":"TestA"}
{"Action":"fail","Package":"p"}`,
			want: counts{passed: 1, failed: 1, skipped: 1}, shows: []string{"--- FAIL: p TestA/x\n    a_test.go:1: x is wrong\n", "FAIL  p\n"}, hides: []string{"=== RUN"},
		},
		{
			name: "a skipped test says why",
			in: `{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:7: no strace: here\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"--- SKIP: TestA (0.00s)\n"}
{"Action":"skip","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p"}`,
			want: counts{skipped: 1}, shows: []string{"--- SKIP: p TestA: no strace: here\n"},
		},
		{
			name: "a package that does not build is one failure, with the compiler's words",
			in: `{"ImportPath":"p [p.test]","Action":"build-output","Output":"a.go:1: undefined: x\n"}
{"ImportPath":"p [p.test]","Action":"build-fail"}
{"Action":"fail","Package":"p","FailedBuild":"p [p.test]"}`,
			want: counts{failed: 1}, shows: []string{"a.go:1: undefined: x\nFAIL  p\n"},
		},
		{
			name: "a test that was running when the process died has failed",
			in: `{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestA","Output":"panic: oh\n"}
{"Action":"fail","Package":"p"}`,
			want: counts{failed: 1}, shows: []string{"panic: oh"},
		},
		{
			name: "a stream that was cut off is a failure",
			in:   `{"Action":"run","Package":"p","Test":"TestA"}`,
			want: counts{failed: 1}, shows: []string{"FAIL  p"},
		},
		{
			name: "the go command's own words are passed on; a package without tests says nothing",
			in: `go: warning: something
{"Action":"output","Package":"p","Output":"?   \tp\t[no test files]\n"}
{"Action":"skip","Package":"p"}`,
			shows: []string{"go: warning: something\n"}, hides: []string{"no test files"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out strings.Builder
			got, err := tally(strings.NewReader(tt.in), &out)
			if err != nil || got != tt.want {
				t.Errorf("got %+v, %v; want %+v", got, err, tt.want)
			}
			for _, want := range tt.shows {
				if !strings.Contains(out.String(), want) {
					t.Errorf("does not show %q:\n%s", want, out.String())
				}
			}
			for _, not := range tt.hides {
				if strings.Contains(out.String(), not) {
					t.Errorf("shows %q:\n%s", not, out.String())
				}
			}
		})
	}
}
