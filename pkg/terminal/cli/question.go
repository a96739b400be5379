package cli

import (
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/pflow-suite/pflow/pkg/terminal/completion"
)

// question finds by a grammar what a word of a command line may be.
//
// The tag complete of a flag or a positional argument has the kind of its values: one of owners, file or dir. For a list of arguments
// it has the kinds of the first ones, separated by commas; the last is that of all others. Without the tag, the values are those of
// the tag enum, or files.
type question struct {
	values func(kind string, of []string) []completion.Candidate

	node        *kong.Node
	positionals []string
	flags       map[*kong.Flag]string // with their values
	pending     *kong.Flag            // whose value is the current word
	ended       bool                  // by --
}

// answer returns what the current word of a line may be.
func (q *question) answer(root *kong.Node, line completion.Line) completion.Answer {
	q.read(root, line.Words)
	current := line.Current
	if q.pending != nil {
		return q.value(q.pending.Value, 0, "", current)
	}
	if strings.HasPrefix(current, "-") && current != "-" && !q.ended {
		name, value, valued := strings.Cut(current, "=")
		if !valued {
			return completion.Answer{Candidates: q.flagNames()}
		}
		if flag := flagNamed(q.node, name); flag != nil {
			return q.value(flag.Value, 0, name+"=", value)
		}
		return completion.Answer{Files: completion.AllFiles, Prefix: name + "="}
	}
	var a completion.Answer
	if current == "-" && !q.ended {
		a.Candidates = q.flagNames()
	}
	commands := len(q.positionals) == 0 && !q.ended
	if commands {
		a.Candidates = append(a.Candidates, commandNames(q.node)...)
	}
	if args := arguments(q.node); len(args) > 0 {
		at := min(len(q.positionals), len(args)-1)
		if len(q.positionals) < len(args) || args[at].IsCumulative() {
			p := q.value(args[at], len(q.positionals)-at, "", current)
			if !q.ended { // an argument must not look like a flag
				p.Candidates = slices.DeleteFunc(p.Candidates, func(c completion.Candidate) bool { return strings.HasPrefix(c.Value, "-") })
			}
			p.Candidates = append(a.Candidates, p.Candidates...)
			return p
		}
	}
	return a
}

// read takes the words before the current one.
func (q *question) read(root *kong.Node, words []string) {
	q.node, q.flags = root, map[*kong.Flag]string{}
	for _, word := range words {
		switch {
		case q.pending != nil:
			q.flags[q.pending], q.pending = word, nil
		case q.ended || len(word) < 2 || word[0] != '-':
			if next := command(q.node, word); next != nil && len(q.positionals) == 0 && !q.ended {
				q.node = next
			} else {
				q.positionals = append(q.positionals, word)
			}
		case word == "--":
			q.ended = true
		default:
			flag := flagNamed(q.node, word)
			if flag == nil {
				continue
			}
			_, value, _ := strings.Cut(word, "=")
			q.flags[flag] = value
			if takes, _ := takesNext(q.node, word); takes {
				q.pending = flag
			}
		}
	}
}

// flagNamed returns the flag of a word such as --name, --name=value or -n; for letters it is the last one's. It returns nil if there is
// no such flag.
func flagNamed(node *kong.Node, word string) *kong.Flag {
	if !strings.HasPrefix(word, "--") {
		letters := []rune(word[1:])
		return flagOf(node, func(f *kong.Flag) bool { return len(letters) > 0 && f.Short == letters[len(letters)-1] })
	}
	name, _, _ := strings.Cut(word[2:], "=")
	return flagOf(node, func(f *kong.Flag) bool {
		return f.Name == name || slices.Contains(f.Aliases, name) || f.Tag.Negatable != "" && "no-"+f.Name == name
	})
}

// commandNames returns the commands below a node that are not hidden.
func commandNames(node *kong.Node) (list []completion.Candidate) {
	for _, child := range node.Children {
		if child.Type == kong.CommandNode && !child.Hidden {
			list = append(list, completion.Candidate{Value: child.Name, Description: child.Help})
		}
	}
	return list
}

// arguments returns the positional arguments of a node or of its default command.
func arguments(node *kong.Node) []*kong.Positional {
	if node.DefaultCmd != nil && node.DefaultCmd.Tag.Default == "withargs" {
		node = node.DefaultCmd
	}
	return node.Positional
}

// flagNames returns the flags of the command and of those above it, without hidden ones and those that are given already.
func (q *question) flagNames() (list []completion.Candidate) {
	node := q.node
	if node.DefaultCmd != nil && node.DefaultCmd.Tag.Default == "withargs" {
		node = node.DefaultCmd
	}
	for n := node; n != nil; n = n.Parent {
		for _, flag := range n.Flags {
			if _, given := q.flags[flag]; !flag.Hidden && (!given || flag.IsCumulative()) {
				list = append(list, completion.Candidate{Value: "--" + flag.Name, Description: flag.Help})
			}
		}
	}
	return list
}

// value returns what a value may be. index is its place in a list of arguments, prefix what stands before it in the word.
func (q *question) value(v *kong.Value, index int, prefix, current string) completion.Answer {
	a := completion.Answer{Prefix: prefix}
	kinds := strings.Split(v.Tag.Get("complete"), ",")
	kind := kinds[min(index, len(kinds)-1)]
	if v.IsSlice() && v.Tag.Sep == ',' && v.Flag != nil || kind == "toolset" { // a list in one word
		a.Prefix += current[:strings.LastIndexByte(current, ',')+1]
	}
	switch {
	case v.Enum != "":
		for _, one := range v.EnumSlice() {
			if one != "" {
				a.Candidates = append(a.Candidates, completion.Candidate{Value: one})
			}
		}
	case v.IsBool():
		a.Candidates = []completion.Candidate{{Value: "true"}, {Value: "false"}}
	case kind == "dir":
		a.Files = completion.OnlyFolders
	case kind == "input" || kind == "run-input" || kind == "parameter" || kind == "argument":
		q.assignment(&a, kind, current)
	case owners[kind] != "":
		a.Candidates = q.values(kind, q.context(kind))
		if kind == "workflow" {
			a.Files = completion.AllFiles
		}
	case isNumber(v):
	default:
		a.Files = completion.AllFiles
	}
	return a
}

func isNumber(v *kong.Value) bool {
	t := v.Target.Type()
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Kind() >= reflect.Int && t.Kind() <= reflect.Float64
}

// assignment completes KEY=VALUE: the key, or the value after it, which may be a file's name.
func (q *question) assignment(a *completion.Answer, kind, current string) {
	list := q.values(kind, q.context(kind))
	key, value, valued := strings.Cut(current, "=")
	if !valued {
		for _, c := range list {
			given := func(word string) bool {
				name, _, _ := strings.Cut(word, "=")
				return strings.TrimSuffix(name, ":")+"=" == c.Value
			}
			if !slices.ContainsFunc(q.positionals, given) {
				a.Candidates = append(a.Candidates, c)
			}
		}
		return
	}
	a.Prefix += key + "="
	if strings.HasPrefix(value, "@") && !strings.HasPrefix(value, "@@") {
		a.Prefix += "@"
		a.Files = completion.AllFiles
		return
	}
	for _, c := range list {
		if c.Value != strings.TrimSuffix(key, ":")+"=" {
			continue
		}
		for _, next := range c.Next {
			a.Candidates = append(a.Candidates, completion.Candidate{Value: next})
		}
	}
	if len(a.Candidates) == 0 {
		a.Files = completion.AllFiles
	}
}

// context returns what the values of a kind depend on: the workflow, run, server, tool or node type that the line has. A missing one is
// empty.
func (q *question) context(kind string) []string {
	switch kind {
	case "input", "node":
		return []string{q.typed("workflow", "saved", "draft")}
	case "run-node", "run-input":
		return []string{q.typed("run")}
	case "tool":
		return []string{q.typed("server")}
	case "argument":
		return []string{q.typed("server"), q.typed("tool")}
	case "parameter":
		return []string{q.typed("type")}
	}
	return nil
}

// typed returns the first value that the line has of one of the kinds, or "".
func (q *question) typed(kinds ...string) string {
	args := arguments(q.node)
	for i, word := range q.positionals {
		if len(args) == 0 {
			break
		}
		at := min(i, len(args)-1)
		list := strings.Split(args[at].Tag.Get("complete"), ",")
		if slices.Contains(kinds, list[min(i-at, len(list)-1)]) {
			return word
		}
	}
	for flag, value := range q.flags {
		if slices.Contains(kinds, flag.Tag.Get("complete")) {
			return value
		}
	}
	return ""
}
