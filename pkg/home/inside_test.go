package home

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/pflow-suite/pflow/pkg/fault"
)

func TestCheckInside(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(os.MkdirAll(at("real/workflows"), 0o700), os.MkdirAll(at("outside"), 0o700), os.WriteFile(at("outside/f"), nil, 0o600),
		os.WriteFile(at("real/inside"), nil, 0o600), os.Symlink("real", at("home"))); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{
		"out": "../../outside/f", "out-absolute": at("outside/f"), "dangling-out": "../../outside/none/x", "via-link": "out", "via-folder": "folder/f",
		"folder": at("outside"), "in": "../inside", "in-absolute": at("real/inside"), "in-by-home": at("home/inside"), "dangling-in": "none/x", "beside": at("real2/x"),
	} {
		if err := os.Symlink(to, at("real/workflows/"+name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"home", "real"} {
		h, err := Open(at(name), "")
		if err != nil {
			t.Fatal(err)
		}
		for file, inside := range map[string]bool{
			"out": false, "out-absolute": false, "dangling-out": false, "via-link": false, "via-folder": false, "folder": false, "folder/new": false, "beside": false,
			"in": true, "in-absolute": true, "in-by-home": true, "dangling-in": true, "none": true, "none/x": true, ".": true,
		} {
			err := h.CheckInside("workflows", file)
			if f := fault.From(err); (err == nil) != inside || err != nil && f.Type != fault.Security {
				t.Errorf("%s/%s: %v", name, file, err)
			}
		}
		for _, path := range []string{at("home/workflows/x"), at("real/workflows/x")} {
			if rel, ok := h.Rel(path); (!ok || rel != "workflows/x") && (name == "home" || path == at("real/workflows/x")) {
				t.Errorf("%s in %s: %q %v", path, name, rel, ok)
			}
		}
		if rel, ok := h.Rel(at("outside/f")); ok {
			t.Error(rel)
		}
	}
	h, err := Open(at("none"), "")
	if err != nil || h.CheckInside("workflows", "x") != nil {
		t.Error("a home that does not exist")
	}
}
