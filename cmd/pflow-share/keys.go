package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/share"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type keysCommand struct {
	Set    setKeyCommand    `cmd:"" help:"Store a key, encrypted under ENCRYPTION_KEY." example:"pflow-share keys set OPENAI_API_KEY - < key.txt"`
	List   listKeysCommand  `cmd:"" help:"List the names of the stored keys." example:"pflow-share keys list"`
	Remove removeKeyCommand `cmd:"" help:"Remove a stored key." example:"pflow-share keys remove OPENAI_API_KEY"`
}

// maxKey is the most bytes of a key's value.
const maxKey = 64 << 10

type setKeyCommand struct {
	Name  string `arg:"" help:"The environment variable that runs have the key in, such as OPENAI_API_KEY."`
	Value string `arg:"" name:"file" help:"The file that holds the value, or - for standard input. A newline at its end does not count."`
}

// Help returns more text for --help.
func (setKeyCommand) Help() string {
	return `The environment variable ENCRYPTION_KEY holds the master key, 64 hexadecimal digits. All keys of a home need the same one, and so does
the server that runs shared workflows.`
}

// Run stores a key.
func (c *setKeyCommand) Run(app *cli.App) error {
	if err := share.CheckKeyName(c.Name); err != nil {
		return err
	}
	raw, err := app.ReadArgument(c.Value, maxKey)
	if err != nil {
		return err
	}
	if _, err := (&share.Service{Env: app.Env}).Master(); err != nil { // before a database is created
		return err
	}
	service, stop, err := open(app, true)
	if err != nil {
		return err
	}
	defer stop()
	if err := service.SetKey(app.Context, c.Name, strings.TrimSuffix(strings.TrimSuffix(string(raw), "\n"), "\r")); err != nil {
		return err
	}
	return app.Document(map[string]string{"set": c.Name}, func(w io.Writer) { _, _ = fmt.Fprintf(w, "set %s\n", c.Name) })
}

// storedKey is a key in a list, without its value.
type storedKey struct {
	Name      string    `json:"name"`
	CreatedAt time.Time `json:"created_at"`
}

type listKeysCommand struct{}

// Run lists the keys' names.
func (c *listKeysCommand) Run(app *cli.App) error {
	service, stop, err := open(app, false)
	if err != nil {
		return err
	}
	defer stop()
	var items []storedKey
	if service.Store != nil {
		keys, err := service.Store.Keys(app.Context)
		if err != nil {
			return err
		}
		for _, key := range keys {
			items = append(items, storedKey{key.Name, key.Created})
		}
	}
	return cli.List(app, items, func(w io.Writer) {
		for _, key := range items {
			_, _ = fmt.Fprintln(w, key.Name)
		}
	})
}

type removeKeyCommand struct {
	Name string `arg:"" help:"The name."`
}

// Run removes a key.
func (c *removeKeyCommand) Run(app *cli.App) error {
	service, stop, err := open(app, false)
	if err != nil {
		return err
	}
	defer stop()
	removed := false
	if service.Store != nil {
		if removed, err = service.Store.RemoveKey(app.Context, c.Name); err != nil {
			return err
		}
	}
	if !removed {
		return fault.New(fault.NotFound, "There is no stored key with the name %q", c.Name).Then(fault.Command("See the names", "pflow-share keys list"))
	}
	return app.Document(map[string]string{"removed": c.Name}, func(w io.Writer) { _, _ = fmt.Fprintf(w, "removed %s\n", c.Name) })
}
