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
	Init     settingsInit   `cmd:"" help:"Write a settings file with the defaults." example:"pflow-lib settings init"`
	Show     settingsShow   `cmd:"" default:"1" fixed:"" help:"Print the settings, without secrets." example:"pflow-lib settings show"`
	Path     settingsPath   `cmd:"" help:"Print the path of the file." example:"pflow-lib settings path"`
	Allow    allowCommand   `cmd:"" help:"Allow node types." example:"pflow-lib settings allow 'mcp-files-*'"`
	Deny     denyCommand    `cmd:"" help:"Deny node types." example:"pflow-lib settings deny shell"`
	Remove   unlistCommand  `cmd:"" help:"Remove patterns for node types." example:"pflow-lib settings remove 'mcp-files-*'"`
	Check    mayCommand     `cmd:"" help:"Print whether a node type may be used, and why." example:"pflow-lib settings check shell"`
	SetEnv   setEnvCommand  `cmd:"" help:"Set secret values for inputs and for servers' environments." example:"pflow-lib settings set-env API_KEY=@key.txt"`
	UnsetEnv unsetEnv       `cmd:"" help:"Remove such values." example:"pflow-lib settings unset-env API_KEY"`
	ListEnv  listEnvCommand `cmd:"" help:"List the names of such values." example:"pflow-lib settings list-env"`
	SetVar   setVarCommand  `cmd:"" help:"Set plain values for inputs." example:"pflow-lib settings set-var region=eu"`
	UnsetVar unsetVar       `cmd:"" help:"Remove plain values." example:"pflow-lib settings unset-var region"`
	ListVars listVars       `cmd:"" help:"List the plain values." example:"pflow-lib settings list-vars"`
	Get      getCommand     `cmd:"" help:"Print one of the other settings." example:"pflow-lib settings get runtime.max_runs"`
	Set      setCommand     `cmd:"" help:"Set one of the other settings." example:"pflow-lib settings set runtime.max_runs 4"`
	Unset    unsetCommand   `cmd:"" help:"Remove one of the other settings." example:"pflow-lib settings unset runtime.max_runs"`
	Reset    resetCommand   `cmd:"" help:"Remove the patterns and the other settings: the defaults apply." example:"pflow-lib settings reset"`
}

// applied is the result of a command that changes the file. Changed is false if nothing had to be changed.
type applied struct {
	Success bool `json:"success"`
	Changed bool `json:"changed"`
}

// change edits the file and prints done.
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

// Run prints the file with its secrets redacted.
func (settingsShow) Run(app *cli.App) error {
	d, err := readSettings(app)
	if err != nil {
		return err
	}
	shown, _ := redact.New().JSON(d.Masked(redact.Mark))
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

// loadSettings returns the home and its settings.
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
  "vars": {},
  "env": {}
}
`

// Run writes the file unless it exists.
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
		return fault.New(fault.AlreadyExists, "%s already exists", settings.File).
			Then(fault.Command("See it", "pflow-lib settings show"), fault.Command("Restore the defaults", "pflow-lib settings reset"))
	}
	return h.Write([]byte(initial), 0o600, settings.File)
}

type resetCommand struct {
	All bool `help:"Remove everything, also the values of env and vars and the keys of other programs."`
}

// Run removes the settings.
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
