package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/home/settings"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type setEnvCommand struct {
	Values []string `arg:"" name:"name[=value]" help:"NAME -, NAME=@FILE or NAME=VALUE; more than one may be given."`
}

// Help is what --help says besides.
func (setEnvCommand) Help() string {
	return `NAME - takes the value from standard input and NAME=@FILE from a file, without the newline at its end. NAME=VALUE works
too, but a command line is seen by every user of the machine and kept in the shell's history: no place for a secret.

The values stand for inputs of the same name and for ${NAME} in servers' configurations, and are kept out of all that is recorded.`
}

// Run sets the values.
func (c *setEnvCommand) Run(app *cli.App) error {
	values, err := app.Assignments(fromStdin(c.Values))
	if err != nil {
		return badValue(c.Values, err)
	}
	for _, v := range values {
		if err := envName(v.Key); err != nil {
			return err
		}
		if v.JSON != nil {
			return fault.New(fault.Usage, "The value of %s must be text", v.Key).Suggest("Write %s=VALUE", v.Key)
		}
	}
	return change(app, "set", func(d *settings.Document) error {
		for _, v := range values {
			text := strings.TrimSuffix(strings.TrimSuffix(v.Text, "\n"), "\r")
			if err := d.Set(rawjson.Quote(text), "env", v.Key); err != nil {
				return err
			}
		}
		return nil
	})
}

// fromStdin writes "NAME -" as the assignment that it is.
func fromStdin(args []string) (list []string) {
	for _, arg := range args {
		if last := len(list) - 1; arg == "-" && last >= 0 && !strings.Contains(list[last], "=") {
			list[last] += "=@-"
		} else {
			list = append(list, arg)
		}
	}
	return list
}

// badValue is the fault of what is no assignment. It repeats no value: it may be a secret, in the wrong place.
func badValue(args []string, err error) error {
	for _, arg := range fromStdin(args) {
		if !strings.Contains(arg, "=") {
			return fault.New(fault.Usage, "A name stands without its value").
				Suggest("Write NAME - and give the value on standard input: pflow-lib settings set-env NAME - < FILE").
				Suggest("Or write NAME=@FILE, or NAME=VALUE for what is no secret")
		}
	}
	return err
}

// envName refuses a name that neither an input nor a variable has.
func envName(name string) error {
	if regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*$`).MatchString(name) {
		return nil
	}
	return fault.New(fault.Usage, "%q is no name of an input or a variable", name).Suggest("A name has letters, digits, _, - and ., and begins with a letter or _")
}

type unsetEnv struct {
	Names []string `arg:"" name:"name" help:"The names."`
}

// Run takes the values out.
func (c *unsetEnv) Run(app *cli.App) error {
	return change(app, "taken out", func(d *settings.Document) error {
		for _, name := range c.Names {
			if d.Delete("env", name) {
				continue
			}
			f := fault.New(fault.NotFound, "There is no value of the name %q", name)
			f.Available = d.Names("env")
			if near, ok := fault.Nearest(name, f.Available); ok {
				f.Suggest("Did you mean %s?", near)
			}
			return f
		}
		return nil
	})
}

type listEnvCommand struct {
	ShowValues bool `help:"Show the values too."`
}

// Run prints the names, with their values covered.
func (c *listEnvCommand) Run(app *cli.App) error {
	_, s, err := loadSettings(app)
	if err != nil {
		return err
	}
	shown := map[string]string{}
	for name, value := range s.Env {
		if !c.ShowValues {
			value = redact.Mark
		}
		shown[name] = value
	}
	return app.Document(map[string]any{"env": shown}, func(w io.Writer) {
		for _, name := range slices.Sorted(maps.Keys(shown)) {
			_, _ = fmt.Fprintf(w, "%s=%s\n", name, shown[name])
		}
	})
}

type getCommand struct {
	Key string `arg:"" optional:"" help:"The setting; without, all there are and what they are for."`
}

// setting is one of a list.
type setting struct {
	Key   string          `json:"key"`
	Value json.RawMessage `json:"value"`
	Help  string          `json:"help,omitempty"`
}

// Run prints the value, null where none is set.
func (c *getCommand) Run(app *cli.App) error {
	d, err := readSettings(app)
	if err != nil {
		return err
	}
	keys := settings.Keys()
	if c.Key != "" {
		_, key, err := settings.KeyPath(c.Key)
		if err != nil {
			return err
		}
		keys = []settings.Key{key}
	}
	list := make([]setting, len(keys))
	for i, k := range keys {
		path, _, _ := settings.KeyPath(k.Name)
		list[i] = setting{k.Name, d.Get(path...), k.Help}
	}
	if c.Key != "" {
		return app.Document(list[0], func(w io.Writer) { _, _ = fmt.Fprintln(w, list[0].text()) })
	}
	return cli.List(app, list, func(w io.Writer) {
		for _, s := range list {
			_, _ = fmt.Fprintf(w, "%s = %s\n    %s\n", s.Key, s.text(), s.Help)
		}
	})
}

// text is the value as people write it.
func (s setting) text() string {
	if s.Value == nil {
		return "(not set)"
	}
	var text string
	if json.Unmarshal(s.Value, &text) == nil {
		return text
	}
	return string(rawjson.Compact(s.Value))
}

type setCommand struct {
	Key   string `arg:"" help:"The setting; pflow-lib settings get lists them."`
	Value string `arg:"" help:"Its value."`
}

// Run sets the value.
func (c *setCommand) Run(app *cli.App) error {
	path, key, err := settings.KeyPath(c.Key)
	if err != nil {
		return err
	}
	value, err := key.Value(c.Value)
	if err != nil {
		return err
	}
	return change(app, "set", func(d *settings.Document) error { return d.Set(value, path...) })
}

type unsetCommand struct {
	Key string `arg:"" help:"The setting; pflow-lib settings get lists them."`
}

// Run takes the setting out. That it was not set is no failure.
func (c *unsetCommand) Run(app *cli.App) error {
	path, _, err := settings.KeyPath(c.Key)
	if err != nil {
		return err
	}
	return change(app, "taken out", func(d *settings.Document) error {
		d.Delete(path...)
		return nil
	})
}
