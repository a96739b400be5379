//go:build !race

package index

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pflow-suite/pflow/pkg/home"
)

// TestADamagedIndexHasNothingWrong: whatever is in the file, a run is either as it was written, or missing; what is missing can be
// added again, and the file does not stay large.
func TestADamagedIndexHasNothingWrong(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			rt.Fatal(err)
		}
		h, err := home.Open(dir, "")
		if err != nil {
			rt.Fatal(err)
		}
		if _, err := h.Make("runs"); err != nil {
			rt.Fatal(err)
		}
		path := h.Path("runs", ".index")
		const runs = 30
		check := func(x *Index) (missing []*Facts) {
			for n := range runs {
				got := x.Get(run(n).Run)
				if d := cmp.Diff(run(n), got); got != nil && d != "" {
					rt.Error(d)
				}
				if got == nil {
					missing = append(missing, run(n))
				}
			}
			return missing
		}
		number := rapid.IntRange(0, runs-1)
		rt.Repeat(map[string]func(*rapid.T){
			"append": func(rt *rapid.T) { add(rt, h, run(number.Draw(rt, "run"))) },
			"tear": func(rt *rapid.T) {
				if info, err := os.Stat(path); err == nil {
					_ = os.Truncate(path, rapid.Int64Range(0, info.Size()).Draw(rt, "size"))
				}
			},
			"overwrite": func(rt *rapid.T) {
				if f, err := os.OpenFile(path, os.O_WRONLY, 0); err == nil {
					info, _ := f.Stat()
					_, _ = f.WriteAt(rapid.SliceOfN(rapid.Byte(), 1, 40).Draw(rt, "bytes"), rapid.Int64Range(0, info.Size()).Draw(rt, "at"))
					_ = f.Close()
				}
			},
			"garbage": func(rt *rapid.T) {
				if f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0); err == nil {
					_, _ = f.WriteString(rapid.SampledFrom([]string{"{}", "\n", "\n\n{\"run\":\"r1\"}\n", strings.Repeat("x", 1<<20), strings.Repeat("\x00\n", 100<<10)}).Draw(rt, "text"))
					_ = f.Close()
				}
			},
			"delete": func(*rapid.T) { _ = os.Remove(path) },
			"list": func(rt *rapid.T) {
				x := Read(h, runs)
				if err := x.Update(check(x), all, rapid.Bool().Draw(rt, "always")); err != nil {
					rt.Error(err)
				}
				if missing := check(Read(h, runs)); len(missing) > 0 {
					rt.Errorf("%d runs are missing after they were added", len(missing))
				}
			},
			"": func(*rapid.T) { check(Read(h, runs)) },
		})
		Read(h, runs).Update(nil, all, false) //nolint:errcheck // the size shows it
		if info, err := os.Stat(path); err == nil && info.Size() > 2*runs*1000+slack {
			rt.Errorf("the index has %d bytes", info.Size())
		}
	})
}
