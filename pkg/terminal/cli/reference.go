package cli

import (
	"github.com/alecthomas/kong"

	"github.com/pflow-suite/pflow/pkg/terminal/manual"
)

// reference prints the page of the program in the reference, for those who install or package the suite.
type reference struct {
	As string `enum:"man,markdown" default:"man" help:"man, for man(1), or markdown." placeholder:"FORM"`
}

// Run prints the page.
func (c *reference) Run(app *App, k *kong.Kong) error {
	page := manual.Page{Version: Version, Documentation: Documentation, Global: globalFlags}
	if c.As == "markdown" {
		return page.Markdown(app.Stdout, k.Model)
	}
	return page.Man(app.Stdout, k.Model)
}
