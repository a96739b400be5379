package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/catalog/page"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/home/input"
	"github.com/pflow-suite/pflow/pkg/mcp/clientconfig"
	"github.com/pflow-suite/pflow/pkg/mcp/install"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpclient"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type importCommand struct {
	pageFlags
	Names   []string `arg:"" optional:"" name:"name" help:"The servers to take over, as the client names them."`
	All     bool     `help:"Take over all servers."`
	From    string   `placeholder:"CLIENT" help:"Only servers of one client: claude-code, claude-desktop, codex, cursor, gemini or vscode."`
	Project string   `placeholder:"DIR" help:"Only servers of the project in this folder. By default those of the user, of the project in the current folder, and of all projects that Claude Code knows." complete:"dir"`
	Rename  []string `placeholder:"OLD=NEW" sep:"none" help:"Another name for a server here. May be repeated."`
	Force   bool     `help:"Replace other servers of the same names."`
}

// Help returns the longer text of --help.
func (importCommand) Help() string {
	return `Without a name it lists the servers in the configurations of Claude Code, Claude Desktop, Codex, Cursor, Gemini CLI and VS Code on this
machine, and what would become of each: "taken", "unchanged" (the same server is configured already), "kept" (another one has its name)
or "refused". With names or --all it takes them over. Variables such as ${env:TOKEN} are translated; other values are copied as they
are, secrets too. No server is started: pflow-sync sync makes the tools node types.`
}

// Run lists the servers of other clients, or takes some of them over.
func (c *importCommand) Run(app *cli.App) error {
	taking := c.All || len(c.Names) > 0
	rename, err := c.check(taking)
	if err != nil {
		return err
	}
	h, err := app.Home()
	if err != nil {
		return err
	}
	entries, broken, err := c.find(app)
	if err != nil {
		return err
	}
	for _, f := range broken {
		app.Warn("%s", f.Message)
	}
	configured, err := mcpclient.LoadServers(h)
	if err != nil {
		return err
	}
	selected, err := c.selected(entries)
	if err != nil {
		return err
	}
	take := importing{rename: rename, force: c.Force}
	items := take.items(selected, configured)
	if !taking {
		return c.list(app, items, broken)
	}
	if len(take.taken) > 0 {
		err = mcpclient.ChangeServers(app.Context, h, func(all mcpclient.Servers) error {
			items = take.items(selected, all) // it may have changed
			return nil
		})
		if err != nil {
			return err
		}
	}
	return report(app, items, broken, c.All)
}

// check checks the flags and returns the new names of --rename.
func (c *importCommand) check(taking bool) (rename map[string]string, err error) {
	if c.From != "" && !slices.Contains(install.Clients(), c.From) {
		f := fault.New(fault.Usage, "Unknown client %q", fault.Truncate(c.From, 100))
		f.Available = install.Clients()
		return nil, f.Suggest("The clients are %s", strings.Join(f.Available, ", "))
	}
	if c.All && len(c.Names) > 0 {
		return nil, fault.New(fault.Usage, "Name the servers to take over, or give --all")
	}
	if !taking && (c.Force || len(c.Rename) > 0) {
		return nil, fault.New(fault.Usage, "--rename and --force need the names of servers, or --all").Then(fault.Command("See the servers", "pflow-sync import"))
	}
	rename = map[string]string{}
	for _, pair := range c.Rename {
		at := strings.LastIndexByte(pair, '=') // only the client's name may contain it
		if at < 0 {
			return nil, fault.New(fault.Usage, "--rename takes OLD=NEW, not %q", pair)
		}
		old, renamed := pair[:at], pair[at+1:]
		if err := home.CheckName("server", renamed); err != nil {
			return nil, err
		}
		if !c.All && !slices.Contains(c.Names, old) {
			return nil, fault.New(fault.Usage, "--rename names %q, which is not one of the servers to take over", old)
		}
		rename[old] = renamed
	}
	return rename, nil
}

// find returns the servers of the clients, and a fault for each file that cannot be read.
func (c *importCommand) find(app *cli.App) (entries []clientconfig.Entry, broken []*fault.Fault, err error) {
	dir, err := filepath.Abs(c.Project)
	if err != nil {
		return nil, nil, err
	}
	if info, err := os.Stat(dir); c.Project != "" && (err != nil || !info.IsDir()) {
		return nil, nil, fault.New(fault.NotFound, "--project needs a folder, and %s is not one", dir)
	}
	search := clientconfig.Search{Env: app.Env, GOOS: runtime.GOOS, Dir: dir, Read: func(path string) ([]byte, error) {
		if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
			return nil, errors.New("it is not a regular file")
		}
		return input.File(app.Context, path, path, input.MaxDocument)
	}}
	entries, broken = search.Find()
	entries = slices.DeleteFunc(entries, func(e clientconfig.Entry) bool {
		return c.From != "" && e.Client != c.From || c.Project != "" && e.Project != dir
	})
	return entries, broken, nil
}

// selected returns the entries with the names that are asked for.
func (c *importCommand) selected(entries []clientconfig.Entry) ([]clientconfig.Entry, error) {
	if len(c.Names) == 0 {
		return entries, nil
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name)
	}
	for _, name := range c.Names {
		if !slices.Contains(names, name) {
			f := fault.New(fault.NotFound, "No client has a server %q", name).Offer(name, names)
			if near, ok := fault.Nearest(name, names); ok {
				f.Suggest("Did you mean %q?", near)
			}
			return nil, f.Then(fault.Command("See the servers of other clients", "pflow-sync import"))
		}
	}
	return slices.DeleteFunc(entries, func(e clientconfig.Entry) bool { return !slices.Contains(c.Names, e.Name) }), nil
}

// list prints what would become of the servers.
func (c *importCommand) list(app *cli.App, items []imported, broken []*fault.Fault) error {
	list := listing[imported]{
		items: items, key: func(i imported) string { return i.File + "\x00" + i.Project + "\x00" + i.Name }, query: "import " + c.From + " " + c.Project,
		shorten: imported.shortened, text: writeImported, warnings: briefly(broken, app.MaxBytes),
		document: func(items []imported, end pageEnd) any {
			return struct {
				Items []imported `json:"items"`
				pageEnd
			}{items, end}
		},
	}
	return list.print(app, &c.pageFlags)
}

// report prints what has become of the servers. The exit status is 1 if one of them was not taken over, or if a file of --all could
// not be read.
func report(app *cli.App, items []imported, broken []*fault.Fault, all bool) error {
	answer := struct {
		Success  bool           `json:"success"`
		Items    []imported     `json:"items"`
		Omitted  int            `json:"omitted,omitempty"`
		Warnings []*fault.Fault `json:"warnings,omitempty"`
	}{Success: !all || len(broken) == 0, Items: items, Warnings: briefly(broken, app.MaxBytes)}
	var taken []string
	for _, i := range items {
		if i.Status == statusTaken {
			taken = append(taken, i.Server)
		}
		if i.Error != nil {
			answer.Success = false
			app.Complain(ofServer(fmt.Sprintf("%q of %s", i.Name, i.Client), i.Error))
		}
		for _, text := range i.Differs {
			app.Warn("server %s: %s", i.Server, text)
		}
	}
	if app.MaxBytes > 0 && page.Size(answer) > app.MaxBytes {
		for i := range answer.Items {
			answer.Items[i] = answer.Items[i].shortened(1000)
		}
		for len(answer.Items) > 0 && page.Size(answer) > app.MaxBytes {
			left := len(answer.Items) / 2
			answer.Omitted += len(answer.Items) - left
			answer.Items = answer.Items[:left]
		}
	}
	err := app.Document(answer, func(w io.Writer) {
		writeImported(w, answer.Items)
		if len(taken) > 0 {
			_, _ = fmt.Fprintf(w, "pflow-sync sync %s makes the tools node types\n", strings.Join(taken, " "))
		}
	})
	if err == nil && !answer.Success {
		return cli.Status(1)
	}
	return err
}
