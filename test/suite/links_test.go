package suite

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLinksThatLeadOutOfTheHome: no command reads or writes through them; list shows them, and remove removes only the link.
func TestLinksThatLeadOutOfTheHome(t *testing.T) {
	t.Parallel()
	const outside = `{"description":"of-the-outside","nodes":[{"id":"a","type":"echo","params":{"message":"of-the-outside"}}]}`
	link := func(p *place, to, name string) {
		t.Helper()
		path := filepath.Join(p.home, name)
		_ = os.Remove(path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, path); err != nil {
			t.Fatal(err)
		}
	}
	refused := func(p *place, words ...string) {
		t.Helper()
		o := p.run(words[0], words[1:]...)
		if o.exit != 2 || !strings.Contains(o.stdout+o.stderr, "out of the home folder") || strings.Contains(o.stdout+o.stderr, "of-the-outside") {
			t.Errorf("%s: %s", strings.Join(words, " "), o)
		}
	}
	for _, folder := range []string{"workflows", "library"} {
		for _, to := range []string{"ABSOLUTE", "RELATIVE", "DANGLING"} {
			t.Run(folder+" "+to, func(t *testing.T) {
				t.Parallel()
				p := newPlace(t)
				target := map[string]string{"ABSOLUTE": p.dir + "/out.json", "RELATIVE": "../../out.json", "DANGLING": p.dir + "/none.json"}[to]
				p.write("out.json", outside)
				link(p, target, folder+"/evil.json")
				p.draft("good", outside)
				refused(p, "pflow-exec", "run", "evil")
				refused(p, "pflow-exec", "run", "home/"+folder+"/evil.json")
				refused(p, "pflow-exec", "start", "evil")
				refused(p, "pflow-lib", "check", "evil")
				refused(p, "pflow-lib", "show", "evil")
				refused(p, "pflow-lib", "describe", "evil")
				refused(p, "pflow-lib", "graph", "evil")
				refused(p, "pflow-lib", "new", "evil")
				if folder == "workflows" {
					refused(p, "pflow-lib", "save", "evil", "fine")
				} else {
					refused(p, "pflow-lib", "save", "--force", "good", "evil")
				}
				if o := p.run("pflow-lib", "list", "--drafts"); o.exit != 0 || strings.Count(o.stdout, "security_error") != 1 {
					t.Error(o)
				}
				if o := p.run("pflow-lib", "remove", "evil"); o.exit != 0 {
					t.Error(o)
				}
				if _, err := os.Lstat(filepath.Join(p.home, folder, "evil.json")); err == nil {
					t.Error("the link is still there")
				}
				if p.read("out.json") != outside {
					t.Error("the file outside was changed")
				}
				if _, err := os.Lstat(p.dir + "/none.json"); err == nil {
					t.Error("a file was written outside")
				}
			})
		}
		t.Run(folder+" itself", func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.write("elsewhere/evil.json", outside)
			p.write("w.json", outside)
			link(p, p.dir+"/elsewhere", folder)
			refused(p, "pflow-exec", "run", "evil")
			refused(p, "pflow-lib", "remove", "evil")
			refused(p, "pflow-lib", "new", "fresh")
			if p.read("elsewhere/evil.json") != outside {
				t.Error("the file outside was changed")
			}
			if left, err := os.ReadDir(p.dir + "/elsewhere"); err != nil || len(left) != 1 {
				t.Error(left, err)
			}
		})
	}
	t.Run("within the home", func(t *testing.T) {
		t.Parallel()
		p := newPlace(t)
		if err := os.Rename(filepath.Dir(p.write("real/shared/out.json", outside)), filepath.Join(p.dir, "real", "kept")); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("real", p.home); err != nil {
			t.Fatal(err)
		}
		link(p, "../kept/out.json", "workflows/relative.json")
		link(p, p.home+"/kept/out.json", "library/absolute.json")
		for _, name := range []string{"relative", "absolute", "home/workflows/relative.json"} {
			if o := p.run("pflow-exec", "run", name); o.exit != 0 || !strings.Contains(o.stdout, "of-the-outside") {
				t.Error(o)
			}
		}
	})
}
