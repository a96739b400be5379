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
	Values []string `arg:"" name:"name[=value]" help:"NAME -, NAME=@FILE or NAME=VALUE. May be repeated."`
}

// Help returns more text for --help.
func (setEnvCommand) Help() string {
	return `NAME - reads the value from standard input, and NAME=@FILE from a file, both without the newline at the end. NAME=VALUE works
too, but do not use it for secrets: every user of the machine can see a command line, and the shell's history keeps it.

The values are used for inputs of the same name and for ${NAME} in the configuration of MCP servers. They are never recorded.
set-var sets values that are not secret.`
}

// Run sets the values.
func (c *setEnvCommand) Run(app *cli.App) error {
	values, err := app.Assignments(fromStdin(c.Values))
	if err != nil {
		return badValue(c.Values, err)
	}
	return setTexts(app, "env", values)
}

// setTexts sets texts in an object of the file.
func setTexts(app *cli.App, object string, values []cli.Assignment) error {
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
			if err := d.Set(rawjson.Quote(text), object, v.Key); err != nil {
				return err
			}
		}
		return nil
	})
}

// fromStdin replaces "NAME -" by the assignment NAME=@-.
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

// badValue returns the fault of an argument that is not an assignment. It contains no argument, which may be a secret.
func badValue(args []string, err error) error {
	for _, arg := range fromStdin(args) {
		if !strings.Contains(arg, "=") {
			return fault.New(fault.Usage, "A name has no value").
				Then(fault.Command("Put the value on standard input", "pflow-lib settings set-env NAME - < FILE")).
				Suggest("Or use NAME=@FILE, or NAME=VALUE if the value is not a secret")
		}
	}
	return err
}

// envName returns an error for a name that neither an input nor a variable can have.
func envName(name string) error {
	if regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*$`).MatchString(name) {
		return nil
	}
	return fault.New(fault.Usage, "%q is not a valid name of an input or a variable", name).Suggest("A name has letters, digits, _, - and ., and begins with a letter or _")
}

type unsetEnv struct {
	Names []string `arg:"" name:"name" help:"The names."`
}

// Run removes the values.
func (c *unsetEnv) Run(app *cli.App) error { return unsetTexts(app, "env", c.Names) }

// unsetTexts removes texts from an object of the file.
func unsetTexts(app *cli.App, object string, names []string) error {
	return change(app, "removed", func(d *settings.Document) error {
		for _, name := range names {
			if d.Delete(object, name) {
				continue
			}
			f := fault.New(fault.NotFound, "There is no value with the name %q", name)
			names := d.Names(object)
			if near, ok := fault.Nearest(name, names); ok {
				f.Suggest("Did you mean %s?", near)
			}
			return f.Offer(name, names)
		}
		return nil
	})
}

type listEnvCommand struct {
	ShowValues bool `help:"Print the values too."`
}

// Run prints the names, with their values redacted unless --show-values is given.
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
	Key string `arg:"" optional:"" help:"The setting. Without it, all settings are listed."`
}

// setting is one of the listed settings.
type setting struct {
	Key   string          `json:"key"`
	Value json.RawMessage `json:"value"`
	Help  string          `json:"help,omitempty"`
}

// Run prints the value, or null if none is set.
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

// text returns the value for people.
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

// Run removes the setting. It succeeds even if it was not set.
func (c *unsetCommand) Run(app *cli.App) error {
	path, _, err := settings.KeyPath(c.Key)
	if err != nil {
		return err
	}
	return change(app, "removed", func(d *settings.Document) error {
		d.Delete(path...)
		return nil
	})
}
