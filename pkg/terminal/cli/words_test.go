package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

func TestHelpAndVersionAreWords(t *testing.T) {
	for words, flags := range map[string]string{"help": "--help", "help say": "say --help", "help set word": "set word --help", "version": "--version"} {
		status, got, _ := call(t, strings.Fields(words)...)
		if _, want, _ := call(t, strings.Fields(flags)...); status != 0 || got == "" || got != want {
			t.Errorf("%s: %d, %q, not %q", words, status, got, want)
		}
	}
	for _, words := range []string{"help nope", "version say"} {
		if status, _, _ := call(t, strings.Fields(words)...); status != 2 {
			t.Errorf("%s: %d", words, status)
		}
	}
}

// A grammar may have commands of these names, or arguments that they could be.
func TestHelpMayBeACommand(t *testing.T) {
	type command struct{}
	own := &struct {
		Common
		Help command `cmd:""`
		Run  command `cmd:""`
	}{}
	arguing := &struct {
		Common
		Word string `arg:""`
	}{}
	for _, g := range []Grammar{own, arguing} {
		if args := asFlags(g, []string{"help", "run"}); !slices.Equal(args, []string{"help", "run"}) {
			t.Errorf("%T: %q", g, args)
		}
	}
}

// served is a grammar with a default command.
type served struct {
	Common
	Stdio servedCommand `cmd:"" default:"withargs" help:"Serve."`
	HTTP  servedCommand `cmd:"" name:"http" help:"Serve over HTTP."`
}

type servedCommand struct {
	Dir     string   `short:"C" help:"A folder."`
	Timeout string   `help:"A time."`
	Kind    string   `help:"One of a few." enum:"a,b" default:"a"`
	Name    bool     `help:"A name."`
	Loud    bool     `short:"l" help:"In capitals."`
	Inputs  []string `help:"Names of inputs to check."`
}

func (c *servedCommand) Run(app *App) error {
	for _, name := range c.Inputs {
		if err := CheckInput(app, name, "w.json"); err != nil {
			return err
		}
	}
	return nil
}

// taking is a grammar with a command that takes KEY=VALUE.
type taking struct {
	Common
	Take takeCommand `cmd:"" help:"Take values."`
	Say  sayCommand  `cmd:"" help:"Say a word."`
}

type takeCommand struct {
	Values []string `arg:"" optional:"" name:"key=value" help:"Values."`
	Loud   bool     `help:"In capitals."`
}

func (c *takeCommand) Run(*App) error { return nil }

// An argument that a default command does not take is compared with the names of the commands.
func TestADefaultCommandHidesNoName(t *testing.T) {
	for word, near := range map[string]string{"htp": `"http"`, "sdtio": `"stdio"`, "nothing": ""} {
		status, stdout, _ := callOf(t, &served{}, word)
		hints := gjson.Get(stdout, "error.suggestions").Raw
		if status != 2 || strings.Contains(hints, "Did you mean") != (near != "") || !strings.Contains(hints, strings.Trim(near, `"`)) || !strings.Contains(hints, "small --help") {
			t.Errorf("%s: %d %s", word, status, stdout)
		}
	}
}

// A flag may be meant as the input of the same name. Its short form is certain.
func TestAFlagThatAnInputIsCalledLike(t *testing.T) {
	for line, want := range map[string]string{
		"--dir=/tmp --inputs dir":            "refused",
		"--dir /tmp --inputs other,dir":      "refused",
		"--loud --inputs loud":               "refused",
		"-C /tmp --inputs dir":               "",
		"-C/tmp -l --inputs dir,loud":        "",
		"--dir=/tmp --inputs other":          "",
		"--timeout 3 --inputs timeout":       "warned",
		"--timeout 3 --inputs timeout -q":    "",
		"--kind b --name --inputs kind,name": "", // a value that the flag takes, and none
	} {
		status, stdout, stderr := callOf(t, &served{}, append([]string{"stdio"}, strings.Fields(line)...)...)
		got := ""
		switch {
		case status == 2 && gjson.Get(stdout, "error.type").Str == "usage_error":
			got = "refused"
		case status != 0:
			got = stdout
		case strings.Contains(stderr, "warning: "):
			got = "warned"
		}
		if got != want {
			t.Errorf("%s: %q, not %q: %s", line, got, want, stderr)
		}
	}
}

// A value for a flag that is unknown, or does not take it, may be meant for an input.
func TestHowAnInputIsWritten(t *testing.T) {
	for line, want := range map[string]bool{
		"take --who=Ada": true, "take --who Ada": true, "take --loud=Ada": true, "take --format=pdf": true, "take --who": false, "say --who=Ada": false,
	} {
		status, stdout, _ := callOf(t, &taking{}, strings.Fields(line)...)
		if got := strings.Contains(gjson.Get(stdout, "error.suggestions").Raw, "=VALUE"); status != 2 || got != want {
			t.Errorf("%s: %d %s", line, status, stdout)
		}
		if strings.Contains(stdout, "who=Ada") {
			t.Errorf("%s repeats a value: %s", line, stdout)
		}
	}
}
