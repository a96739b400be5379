package cli

import (
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/pflow-suite/pflow/pkg/terminal/completion"
)

// completed is a grammar with every kind of value.
type completed struct {
	Format string `enum:"json,text" default:"json"`
	Start  struct {
		Workflow string   `arg:"" complete:"workflow"`
		Values   []string `arg:"" optional:"" complete:"input"`
		Dir      string   `short:"C" complete:"dir"`
		Inputs   string
		Jobs     int
		Deep     bool     `negatable:""`
		Only     string   `complete:"node"`
		Sets     string   `complete:"toolset"`
		Names    []string `complete:"saved"`
		Pick     []string `enum:"one,two"`
	} `cmd:"" help:"Start it."`
	Tools struct {
		Call struct {
			Args []string `arg:"" complete:"server,tool,argument"`
		} `cmd:""`
	} `cmd:""`
	Secret struct{} `cmd:"" hidden:""`
}

func TestQuestions(t *testing.T) {
	parser, err := kong.New(&completed{})
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{ // words, the last is completed: prefix, candidates, files
		"":                           " [start tools] 0",
		"tools ":                     " [call] 0",
		"start ":                     " [<workflow>] 1",
		"start -":                    " [--dir --inputs --jobs --deep --only --sets --names --pick --help --format <workflow>] 1",
		"start --jobs 2 --j":         " [--dir --inputs --deep --only --sets --names --pick --help --format] 0",
		"start --jobs ":              " [] 0",
		"start --inputs ":            " [] 1",
		"start --inputs=a":           "--inputs= [] 1",
		"start -C ":                  " [] 2",
		"start --format ":            " [json text] 0",
		"start --pick=one,t":         "--pick=one, [one two] 0",
		"start --sets a,":            "a, [<toolset>] 0",
		"start --names=a,b,c":        "--names=a,b, [<saved>] 0",
		"start --deep=":              "--deep= [true false] 0",
		"start w ":                   " [a= b=] 0",
		"start w a=1 ":               " [b=] 0",
		"start w a:=1 ":              " [b=] 0",
		"start --inputs f w b=":      "b= [yes no] 0",
		"start w b:=":                "b:= [yes no] 0",
		"start w a=":                 "a= [] 1",
		"start w a=@x":               "a=@ [] 1",
		"start w --only ":            " [<node w>] 0",
		"start --only x w ":          " [a= b=] 0",
		"tools call ":                " [<server>] 0",
		"tools call s ":              " [<tool s>] 0",
		"tools call s t ":            " [<argument s t>=] 0",
		"tools call s t u=1 ":        " [<argument s t>=] 0",
		"tools call -- s ":           " [<tool s>] 0",
		"--format text tools call s": " [<server>] 0",
		"start --unknown ":           " [<workflow>] 1",
		"start --unknown=":           "--unknown= [] 1",
	} {
		values := func(kind string, of []string) []completion.Candidate {
			if kind == "input" && of[0] == "w" {
				return []completion.Candidate{{Value: "a=", Open: true}, {Value: "b=", Open: true, Next: []string{"yes", "no"}}}
			}
			value := "<" + strings.Join(append([]string{kind}, of...), " ") + ">"
			if kind == "argument" {
				value += "="
			}
			return []completion.Candidate{{Value: value}}
		}
		words := strings.Split(line, " ")
		q := question{values: values}
		a := q.answer(parser.Model.Node, completion.Line{Words: words[:len(words)-1], Current: words[len(words)-1]})
		var list []string
		for _, c := range a.Candidates {
			list = append(list, c.Value)
		}
		if got := a.Prefix + " [" + strings.Join(list, " ") + "] " + string('0'+rune(a.Files)); got != want {
			t.Errorf("%q: %s, want %s", line, got, want)
		}
	}
}
