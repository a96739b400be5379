package cli

import (
	"bytes"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"
)

type partGrammar struct {
	Common

	Search struct {
		Words []string `arg:"" optional:""`
		Limit int      `default:"7" help:"How many."`
	} `cmd:"" aliases:"browse,look" help:"Search."`
	Draft struct {
		Read  struct{} `cmd:"" help:"Read one."`
		Write struct {
			Name string `arg:""`
		} `cmd:"" help:"Write one."`
	} `cmd:"" help:"Drafts."`
	Odd struct{} `cmd:"" name:"odd-name" help:"Another."`
}

// answer parses arguments and returns everything that people see of it.
func answer(t *testing.T, grammar any, args []string) string {
	t.Helper()
	var out bytes.Buffer
	parser, err := kong.New(grammar, kong.Name("p"), kong.Writers(&out, &out), kong.Exit(func(int) {}), kong.ConfigureHelp(kong.HelpOptions{Compact: true}))
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := parser.Parse(flagsFirst(parser.Model.Node, args))
	if err != nil {
		return out.String() + err.Error() + " of " + commandOf(err)
	}
	return out.String() + parsed.Command()
}

// The part of a grammar that is built answers as the whole one.
func TestOneCommand(t *testing.T) {
	for _, c := range []struct {
		args []string
		part bool
	}{
		{[]string{"search", "a", "--limit", "3", "b"}, true},
		{[]string{"--max-bytes=1024", "-q", "--hints=tools", "browse", "--limit=3", "--", "--x"}, true},
		{[]string{"look", "--help"}, true},
		{[]string{"search", "--limt", "3"}, true},
		{[]string{"search", "--limit", "x"}, true},
		{[]string{"--quiet", "draft"}, true},
		{[]string{"draft", "read"}, true},
		{[]string{"draft", "write"}, true},
		{[]string{"draft", "wrte"}, true},
		{[]string{"draft", "--help"}, true},
		{[]string{"odd-name", "more"}, true},
		{[]string{"--unknown=1", "search"}, true},
		{[]string{"--format", "search", "draft"}, false}, // the value of a flag is no command
		{[]string{"-qx", "search"}, false},
		{[]string{"serch"}, false},
		{[]string{"completion", "bash"}, false},
		{[]string{"--help"}, false},
		{[]string{"--", "search"}, false},
		{nil, false},
	} {
		whole := &partGrammar{}
		part, common := ofCommand(&partGrammar{}, c.args)
		if _, isWhole := part.(*partGrammar); isWhole == c.part {
			t.Errorf("%q: the whole grammar: %v", c.args, isWhole)
		}
		want := answer(t, whole, c.args)
		got := answer(t, part, c.args)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%q: %s", c.args, d)
		}
		if d := cmp.Diff(whole.Common, *common); d != "" {
			t.Errorf("%q: common flags: %s", c.args, d)
		}
	}
}

// A command that takes the arguments of the program is not left out.
func TestOneCommandWithADefault(t *testing.T) {
	var g struct {
		Common
		Run struct {
			Name string `arg:""`
		} `cmd:"" default:"withargs"`
		List struct{} `cmd:""`
	}
	if part, _ := ofCommand(&g, []string{"list"}); part != any(&g) {
		t.Errorf("%T", part)
	}
}
