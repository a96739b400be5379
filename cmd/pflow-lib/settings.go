package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/home/settings"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type settingsCommand struct {
	Init     settingsInit   `cmd:"" help:"Write a file with what stands without one, to begin with."`
	Show     settingsShow   `cmd:"" default:"1" help:"Print the settings, without secrets."`
	Path     settingsPath   `cmd:"" help:"Print where the file is."`
	Allow    allowCommand   `cmd:"" help:"Allow node types."`
	Deny     denyCommand    `cmd:"" help:"Deny node types."`
	Remove   unlistCommand  `cmd:"" help:"Take patterns out of what is allowed and what is denied."`
	Check    mayCommand     `cmd:"" help:"Tell whether a node type may be used, and why."`
	SetEnv   setEnvCommand  `cmd:"" help:"Set values for inputs and for servers' environments."`
	UnsetEnv unsetEnv       `cmd:"" help:"Take such values out."`
	ListEnv  listEnvCommand `cmd:"" help:"List the names of such values."`
	Get      getCommand     `cmd:"" help:"Print one of the other settings."`
	Set      setCommand     `cmd:"" help:"Set one of the other settings."`
	Unset    unsetCommand   `cmd:"" help:"Take one of the other settings out."`
	Reset    resetCommand   `cmd:"" help:"Take out the patterns and the other settings, so that the defaults stand."`
}

// applied is the answer of what changes the file. Changed is false when it was so already.
type applied struct {
	Success bool `json:"success"`
	Changed bool `json:"changed"`
}

// change edits the file and says what was done.
func change(app *cli.App, done string, edit func(*settings.Document) error) error {
	h, err := app.Home()
	if err != nil {
		return err
	}
	changed, err := settings.Change(app.Context, h, edit)
	if err != nil {
		return err
	}
	return app.Document(applied{true, changed}, func(w io.Writer) {
		if !changed {
			done = "nothing to change"
		}
		_, _ = fmt.Fprintln(w, done)
	})
}

type settingsShow struct{}

// Run prints the file with its secrets covered.
func (settingsShow) Run(app *cli.App) error {
	d, err := readSettings(app)
	if err != nil {
		return err
	}
	shown, _ := redact.New().JSON(d.Covered(redact.Mark))
	return app.Document(shown, func(w io.Writer) {
		var b bytes.Buffer
		_ = json.Indent(&b, shown, "", "  ")
		_, _ = fmt.Fprintln(w, b.String())
	})
}

func readSettings(app *cli.App) (*settings.Document, error) {
	h, err := app.Home()
	if err != nil {
		return nil, err
	}
	return settings.Read(h)
}

// loadSettings opens the home and gives the settings that stand there.
func loadSettings(app *cli.App) (*home.Home, *settings.Settings, error) {
	h, err := app.Home()
	if err != nil {
		return nil, nil, err
	}
	s, err := settings.Load(h)
	return h, s, err
}

type settingsPath struct{}

// Run prints the path.
func (settingsPath) Run(app *cli.App) error {
	h, err := app.Home()
	if err != nil {
		return err
	}
	path := h.Path(settings.File)
	_, err = os.Stat(path)
	return app.Document(map[string]any{"path": path, "exists": err == nil}, func(w io.Writer) { _, _ = fmt.Fprintln(w, path) })
}

type settingsInit struct{}

// initial is the file that init writes.
const initial = `{
  "version": "1.0.0",
  "registry": {
    "nodes": {
      "allow": [
        "*"
      ],
      "deny": []
    }
  },
  "runtime": {
    "template_resolution_mode": "strict"
  },
  "llm": {
    "default_model": null
  },
  "env": {}
}
`

// Run writes the file, if there is none.
func (settingsInit) Run(app *cli.App) error {
	h, err := app.Home()
	if err != nil {
		return err
	}
	err = h.Lock(app.Context, settings.File, func() error { return initialise(h) })
	if err != nil {
		return err
	}
	return app.Document(applied{true, true}, func(w io.Writer) { _, _ = fmt.Fprintln(w, "wrote "+settings.File) })
}

func initialise(h *home.Home) error {
	if source, err := h.Read(settings.File); err != nil || source != nil {
		if err != nil {
			return err
		}
		return fault.New(fault.AlreadyExists, "There is a %s already", settings.File).
			Suggest("pflow-lib settings show prints it; pflow-lib settings reset takes out what is set")
	}
	return h.Write([]byte(initial), 0o600, settings.File)
}

type resetCommand struct {
	All bool `help:"Take out everything: the values of env and keys of other programs, too."`
}

// Run takes the settings out.
func (c *resetCommand) Run(app *cli.App) error {
	return change(app, "reset", func(d *settings.Document) error {
		if c.All {
			d.Clear()
			return nil
		}
		d.Delete("registry", "nodes")
		for _, k := range settings.Keys() {
			path, _, err := settings.KeyPath(k.Name)
			if err != nil {
				return err
			}
			d.Delete(path...)
		}
		return nil
	})
}
