package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// commanding are programs that start other commands, or run commands of their own, as some of their arguments say.
type commanding struct {
	names   string
	options string // behind which such an argument stands
	keys    string // what such an argument begins with; any text if there are none
	all     string // the operands behind which all that stands is such an argument; "*" if all are
}

var commandings = []commanding{
	{names: " ssh scp sftp ", options: " -o ", keys: "proxycommand localcommand knownhostscommand pkcs11provider securitykeyprovider"},
	{names: " make gmake ", options: " --eval "},
	{names: " git ", options: " -c ", keys: "alias. core. credential. diff. difftool. filter. gpg. include. includeif. merge. mergetool. pager. protocol. sequence. ssh. uploadpack. remote. man. browser."},
	{names: " git ", options: " --upload-pack --receive-pack --exec --extcmd -u -x "},
	{names: " rsync ", options: " -e --rsh --rsync-path "},
	{names: " vim vi nvim ex view ", options: " -c --cmd + "},
	{names: " gdb ", options: " -ex -iex -eval-command --eval-command "},
	{names: " expect fish ", options: " -c -C --command --init-command "},
	{names: " capsh ", options: " -c "},
	{names: " tmux ", all: " new new-session new-window neww split-window splitw send-keys send run-shell run respawn-pane "},
	{names: " screen ", options: " -X ", all: " -X "},
	{names: " tar ", options: " --to-command --checkpoint-action --use-compress-program --rsh-command -I "},
	{names: shells, options: " --rcfile --init-file "},
}

// commanded warns of values in the arguments that make a program start commands.
func (f *flow) commanded(args []*syntax.Word) {
	for i, a := range args {
		text, _ := static(a)
		name := base(text)
		for _, c := range commandings {
			if !listed(c.names, name) {
				continue
			}
			if t := f.words(c.arguments(args[i+1:])); t.found() {
				f.caution(t, "in an argument with which "+name+" is told what to run", "Write this argument without a value, or choose it with case … in … esac")
			}
		}
		if i == 0 && !listed(carriers, name) {
			break
		}
	}
}

// arguments are those among a program's arguments that say what it runs.
func (c *commanding) arguments(args []*syntax.Word) (found []*syntax.Word) {
	for i, a := range args {
		text, rest := prefix(a)
		if listed(c.all, text) {
			return append(found, args[i+1:]...)
		}
		if i > 0 && listed(c.options, args[i-1].Lit()) && c.begins(text) {
			found = append(found, a)
		}
		for option := range strings.FieldsSeq(c.options) {
			value, joined := strings.CutPrefix(text, option)
			if strings.HasPrefix(option, "--") {
				value, joined = strings.CutPrefix(text, option+"=")
			}
			if joined && rest > 0 && c.begins(value) {
				found = append(found, a)
				break
			}
		}
	}
	return found
}

// begins reports whether an argument that begins with a text, and goes on with a value, can be one that names a command.
func (c *commanding) begins(text string) bool {
	text = strings.ToLower(text)
	return c.keys == "" || slices.ContainsFunc(strings.Fields(c.keys), func(key string) bool {
		return strings.HasPrefix(text, key) || strings.HasPrefix(key, text)
	})
}

// optional warns of values that can become several words, and so options, of programs whose options or words are commands.
func (f *flow) optional(args []*syntax.Word) {
	name, _ := static(args[0])
	if name = base(name); listed(" find env ", name) {
		for _, a := range args[1:] {
			f.caution(f.unquoted(a, true), "unquoted among the words of "+name+", where the words of a value can be a command or an option that runs one", `Put it in double quotes: "${…}"`)
		}
	}
}
