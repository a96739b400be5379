package upstream

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/catalog/library"
	"github.com/pflow-suite/pflow/pkg/catalog/registry"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/check"
)

// workflowsFolder is the folder of a home with its saved workflows.
const workflowsFolder = "workflows"

// endings are those of a workflow's file.
var endings = []string{".pflow.md", ".json", ".md"}

// nameOf returns the name of the workflow in a file.
func nameOf(path string) string {
	for _, ending := range endings {
		if name, ok := strings.CutSuffix(filepath.Base(path), ending); ok {
			return name
		}
	}
	return filepath.Base(path)
}

// workflows takes workflows over, which may run each other by name.
type workflows struct {
	importer *Importer
	library  *library.Library
	types    *registry.Registry
	// sources are the paths of the workflows that are taken over, by name.
	sources map[string]string
	// servers are the names of the servers that are taken over.
	servers []string
}

func (i *Importer) workflows(ctx context.Context, from *home.Home, shared bool, servers []string) ([]Item, error) {
	w := &workflows{importer: i, library: library.Open(i.Home), types: registry.Open(i.Home), servers: servers, sources: map[string]string{}}
	entries, err := os.ReadDir(from.Path(workflowsFolder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fault.New(fault.Usage, "Cannot read the folder %s: %v", from.Path(workflowsFolder), fault.Reason(err))
	}
	bundled := map[string]bool{}
	for _, e := range entries {
		switch name := e.Name(); {
		case strings.HasPrefix(name, "."):
		case e.IsDir():
			for _, ending := range endings[:2] {
				if path := from.Path(workflowsFolder, name, name+ending); isFile(path) {
					w.sources[name], bundled[name] = path, true
				}
			}
		case strings.HasSuffix(name, endings[0]), strings.HasSuffix(name, endings[1]):
			if !bundled[nameOf(name)] {
				w.sources[nameOf(name)] = from.Path(workflowsFolder, name)
			}
		}
	}
	var items []Item
	for _, name := range slices.Sorted(maps.Keys(w.sources)) {
		if shared {
			items = append(items, Item{Kind: "workflow", Name: name, Status: Unchanged, Differs: []string{"The home is shared, so this is a draft here and runs by its name"}})
			continue
		}
		item, err := w.take(ctx, name, w.sources[name], bundled[name])
		if err != nil {
			return items, err
		}
		items = append(items, item)
	}
	return items, nil
}

// take takes a workflow over. With whole, everything in its folder belongs to it. The error is that of a read that was called off.
func (w *workflows) take(ctx context.Context, name, path string, whole bool) (Item, error) {
	item := Item{Kind: "workflow", Name: name, Status: Refused}
	file, form := w.library.Read(path)
	if errors.Is(form, context.Canceled) {
		return item, form
	}
	if file == nil {
		item.Error = fault.From(form)
		return item, nil
	}
	report := check.Read(file, form, w, w.load, w.importer.Judge)
	secrets := redact.New()
	secrets.JSON(file.JSON())
	for input, in := range file.Workflow.Inputs {
		if in.Secret || redact.SecretName(input) {
			secrets.AddJSON(input, in.Default)
		}
	}
	if f := report.Fault(path); f != nil {
		item.Error = secrets.Fault(f)
		return item, nil
	}
	var others map[string][]byte
	if whole {
		var err error
		if others, err = filesIn(w.importer.Home, filepath.Dir(path)); err != nil {
			item.Error = fault.From(err)
			return item, nil
		}
		delete(others, filepath.Base(path))
	}
	saved, changed, err := w.library.Import(ctx, name, file, others, w.importer.Force, w.importer.Dry)
	switch {
	case err != nil && fault.From(err).Type == fault.AlreadyExists:
		item.Status, item.Error = Kept, fault.From(err)
		return item, nil
	case err != nil:
		item.Error = secrets.Fault(fault.From(err))
		return item, nil
	case changed:
		item.Status = Taken
	default:
		item.Status = Unchanged
	}
	item.Files = saved.Files
	for _, f := range append(report.Warnings, saved.NotBundled...) {
		f = secrets.Fault(f)
		item.Differs = append(item.Differs, f.Where()+f.Message)
	}
	return item, nil
}

// load returns a workflow that a node names: one of those that are taken over, else one that is here.
func (w *workflows) load(from *workflow.File, ref string) (*workflow.File, error) {
	if path, ok := w.sources[ref]; ok {
		return w.library.Read(path)
	}
	return w.library.OpenSub(from, ref)
}

// Type returns a node type of this suite, or a tool of a server that is taken over.
func (w *workflows) Type(name string) (nodetype.Type, bool, error) {
	t, ok, err := w.types.Type(name)
	if ok || err != nil {
		return t, ok, err
	}
	server := ""
	for _, known := range w.servers {
		if strings.HasPrefix(name, "mcp-"+known+"-") && len(known) > len(server) {
			server = known
		}
	}
	if server == "" {
		return t, false, nil
	}
	return nodetype.Type{
		Name: name, Actions: []string{"default", "error"}, ExtraOutputs: true, Unregistered: true,
		MCP: &nodetype.MCP{Server: server, Tool: strings.TrimPrefix(name, "mcp-"+server+"-")},
	}, true, nil
}

// Types lists the node types of this suite.
func (w *workflows) Types() ([]nodetype.Type, error) { return w.types.Types() }

// filesIn returns the regular files below a folder, by their paths relative to it.
func filesIn(h *home.Home, dir string) (map[string][]byte, error) {
	files := map[string][]byte{}
	size := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		content, err := h.ReadInput(path, path, workflow.MaxSize)
		if size += len(content); err == nil && size > workflow.MaxSize {
			err = fault.New(fault.Validation, "The folder %s has more than %d MiB", dir, workflow.MaxSize>>20).Suggest("Import the workflow's file: its folder is not taken then, only what it refers to")
		}
		files[rel] = content
		return err
	})
	return files, err
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// sameFolder reports whether two paths lead to the same folder.
func sameFolder(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}
