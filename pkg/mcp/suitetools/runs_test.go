package suitetools

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// A run does not keep secret inputs, so run_resume takes them again. They are in no command line.
func TestAResumedRunTakesInputs(t *testing.T) {
	f := newFakes(t)
	f.Program("pflow-exec", `case "$*" in
*status*) echo '{"run_id":"r01","workflow":"w","status":"paused"}';;
*start*) cat > "$DIR/inputs"; echo '{"run_id":"r02"}';;
*wait*) echo '{"success":true,"run_id":"r02","status":"completed","outputs":{}}';;
esac`)
	answer, _ := f.call(&Front{Suite: f.suite, Toolsets: []string{"runs"}}, "run_resume", `{"run_id":"r01","answers":{"deploy":"yes"},"inputs":{"tok":"s3cret"}}`)
	if answer["run_id"] != "r02" {
		t.Error(answer)
	}
	if given, err := os.ReadFile(filepath.Join(f.Dir, "inputs")); err != nil || string(given) != `{"tok":"s3cret"}` {
		t.Errorf("%s, %v", given, err)
	}
	if calls := f.Calls(); !slices.Contains(calls, "pflow-exec --quiet start --format json --name --resume=r01 --approve=deploy=yes --by=run_resume --inputs=- -- w") {
		t.Errorf("%q", calls)
	}
}
