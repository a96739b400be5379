package main

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type setVarCommand struct {
	Values []string `arg:"" name:"name=value" help:"NAME=VALUE or NAME=@FILE. May be repeated."`
}

// Help returns more text for --help.
func (setVarCommand) Help() string {
	return `The values are used for inputs of the same name that have no value from the command line, the environment or set-env. They are not
secret: runs record them. For a name such as api_token use set-env.`
}

// Run sets the values. It refuses a name that makes its value a secret.
func (c *setVarCommand) Run(app *cli.App) error {
	values, err := app.Assignments(c.Values)
	if err != nil {
		return err
	}
	for _, v := range values {
		if redact.SecretName(v.Key) {
			return fault.New(fault.Usage, "%s is the name of a secret, and vars are for values that are not secret", v.Key).
				Then(fault.Command("Put the value on standard input", "pflow-lib settings set-env %s -", v.Key))
		}
	}
	return setTexts(app, "vars", values)
}

type unsetVar struct {
	Names []string `arg:"" name:"name" help:"The names."`
}

// Run removes the values.
func (c *unsetVar) Run(app *cli.App) error { return unsetTexts(app, "vars", c.Names) }

type listVars struct{}

// Run prints the names and values. It redacts a value that a person wrote into the file under the name of a secret.
func (listVars) Run(app *cli.App) error {
	_, s, err := loadSettings(app)
	if err != nil {
		return err
	}
	shown := map[string]string{}
	for name, value := range s.Vars {
		if redact.SecretName(name) {
			value = redact.Mark
		}
		shown[name] = value
	}
	return app.Document(map[string]any{"vars": shown}, func(w io.Writer) {
		for _, name := range slices.Sorted(maps.Keys(shown)) {
			_, _ = fmt.Fprintf(w, "%s=%s\n", name, shown[name])
		}
	})
}
