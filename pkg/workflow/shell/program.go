package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// language is a program that runs code in its arguments, or in its standard input if it has no such argument.
type language struct {
	names   string
	options string // the option letters, and long options, that code follows
	skip    string // the same for those that something else follows
	pairs   string // the options that two words follow
	operand int    // the operand that is code if no option has any, 0 for none
	all     bool   // whether all operands from that one on are code
	input   input
	form    string // what to write instead, where ${…} stands for the value
}

// input is whether a program without code in its arguments reads it from its standard input.
type input int

const (
	data   input = iota
	script       // code, unless an operand names a file of code
	code         // code in any case
)

const sqlForm = `Check the value first, or let the client quote it: psql -v v="${…}" <<'EOF', and :'v' in the SQL`

var languages = []language{
	{names: " awk gawk mawk nawk ", options: " e --source ", skip: " F v f i l --assign --field-separator --file ", operand: 1,
		form: `Give it to awk in the environment: v="${…}" awk '… ENVIRON["v"] …'`},
	{names: " sed gsed ", options: " e --expression ", skip: " f l --file ", operand: 1,
		form: `Use a command that takes it as data: v="${…}" awk '… ENVIRON["v"] …'`},
	{names: " jq yq gojq jaq ", skip: " f L --indent --from-file ", pairs: " --arg --argjson --slurpfile --rawfile ", operand: 1,
		form: `Give it to jq as a variable: jq --arg v "${…}" '… $v …'`},
	{names: " perl ", options: " e E ", input: script,
		form: `Give it to the code as an argument: perl -e '… $ARGV[0] …' "${…}"`},
	{names: " python python2 python3 pypy3 ", options: " c ", input: script,
		form: `Give it to the code as an argument: python3 -c 'import sys; … sys.argv[1] …' "${…}"`},
	{names: " ruby ", options: " e ", input: script,
		form: `Give it to the code as an argument: ruby -e '… ARGV[0] …' "${…}"`},
	{names: " node nodejs bun ", options: " e p --eval --print ", input: script,
		form: `Give it to the code as an argument: node -e '… process.argv[1] …' "${…}"`},
	{names: " php ", options: " r ", input: script,
		form: `Give it to the code as an argument: php -r '… $argv[1] …' "${…}"`},
	{names: " lua luajit Rscript osascript pwsh powershell ", options: " e c --command ", input: script,
		form: `Give it to the code in the environment: v="${…}" lua -e '… os.getenv("v") …'`},
	{names: " psql mysql mariadb clickhouse-client duckdb ", options: " c e q --command --execute --query ", skip: " d f h p U v L o F R P T ", input: code, form: sqlForm},
	{names: " sqlite3 ", operand: 2, all: true, input: code, form: sqlForm},
	{names: " ssh ", skip: " b c D E e F I i J L l m O o p Q R S W w ", operand: 2, all: true, input: code,
		form: `Send it as input: printf '%s\n' "${…}" | ssh host 'IFS= read -r v; … "$v" …'`},
	{names: " su runuser script flock ", options: " c --command ", input: code, form: `Let the code expand a variable: v="${…}" su -m user -c '… "$v" …'`},
	{names: " watch ", skip: " n --interval ", operand: 1, all: true, form: `Let the code expand a variable: export v="${…}"; watch '… "$v" …'`},
	{names: " make gmake ", options: " --eval ", form: `Give it to make as a variable, and let the shell expand it in a recipe: v="${…}" make, and "$$v" there`},
	{names: " tar bsdtar ", options: " I --use-compress-program --to-command --checkpoint-action ", skip: " f C T X --file --directory ", form: "Name the program yourself"},
	{names: " split ", options: " --filter ", form: `Let the code expand a variable: v="${…}" split --filter='… "$v" …'`},
	{names: " vi vim nvim ex view emacs ", options: " c --cmd --eval ", input: data, form: `Let awk or perl change the file, and give it the value in the environment`},
	{names: " gdb lldb ", options: " x o --eval-command --one-line ", input: code, form: "Write the commands without the value"},
	{names: " ed m4 tclsh expect at batch gnuplot octave ", options: " e c --eval ", input: code, form: "Write the code without the value"},
	{names: " parallel ", operand: 1, form: `Give it to parallel as input: printf '%s\n' "${…}" | parallel command`},
	{names: " env ", options: " S --split-string ", form: `Write the words yourself: env command "${…}"`},
	{names: shells, options: " c ", skip: " o O ", input: script, form: `Give it to the code as an argument: sh -s -- "${…}" <<'EOF', and "$1" in the code`},
}

// carriers are the programs that start others, beside those that [carriedOut] knows.
const carriers = " command builtin exec env nohup timeout nice ionice sudo doas setsid stdbuf time su runuser flock busybox chroot unshare nsenter systemd-run " +
	"xargs find docker podman kubectl nerdctl lxc ssh sshpass "

// located calls found for each program that runs code among the words of a command, with its arguments. Other programs than
// shells must be the command, or follow one of the carriers.
func located(args []*syntax.Word, found func(i int, name string, l *language)) {
	words := texts(args)
	if listed(talking, base(words[0])) {
		return
	}
	for i, word := range words {
		name := base(word)
		if plainVariable(args[i]) == "SHELL" {
			name = "sh"
		}
		for j := range languages {
			if l := &languages[j]; listed(l.names, name) && (i == 0 || l.names == shells || listed(carriers, base(words[0]))) {
				found(i, name, l)
				if l.names == shells { // all else are its arguments
					return
				}
			}
		}
	}
}

// advise warns of values in code for other programs, and of those that programs could take as options.
func (e *evaluation) advise(n syntax.Node) {
	switch n := n.(type) {
	case *syntax.CallExpr:
		if len(n.Args) > 0 {
			e.programs(n.Args)
			e.options(n.Args)
		}
	case *syntax.Stmt:
		e.fed(n.Cmd, func() []value { return e.documents(nil, n) })
	case *syntax.BinaryCmd:
		if n.Op == syntax.Pipe || n.Op == syntax.PipeAll {
			e.fed(n.Y.Cmd, func() []value { return e.printed(nil, n.X) })
		}
	}
}

// programs warns of values in arguments that are code.
func (e *evaluation) programs(args []*syntax.Word) {
	warned := map[uint]bool{}
	located(args, func(i int, name string, l *language) {
		words, _ := l.code(args[i+1:])
		cure := l.form
		if l.names == shells {
			cure = shellCure(name)
		}
		for _, w := range words {
			for _, v := range e.values(w) {
				if !warned[v.at] { // ssh host psql -c "${…}"
					warned[v.at] = true
					e.warn(Program, v, "in code for "+name, cure)
				}
			}
		}
	})
}

// fed warns of values in the standard input of a command that runs it.
func (e *evaluation) fed(c syntax.Command, values func() []value) {
	call, ok := c.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return
	}
	located(call.Args, func(i int, name string, l *language) {
		words, operands := l.code(call.Args[i+1:])
		if len(words) == 0 && (l.input == code || l.input == script && operands == 0) {
			for _, v := range values() {
				e.warn(Program, v, "in code that "+name+" reads", l.form)
			}
		}
	})
}

// documents adds the values in the here-documents and here-strings of a statement.
func (e *evaluation) documents(found []value, s *syntax.Stmt) []value {
	for _, r := range s.Redirs {
		switch {
		case r.Op == syntax.WordHdoc:
			found = append(found, e.values(r.Word)...)
		case r.Hdoc != nil && quotedWord(r.Word):
			found = append(found, e.inText(r.Hdoc)...)
		default:
			found = append(found, e.values(r.Hdoc)...)
		}
	}
	return found
}

// printed adds the values that a statement prints. Most programs print what they read, so all of a pipe count.
func (e *evaluation) printed(found []value, s *syntax.Stmt) []value {
	found = e.documents(found, s)
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		if len(c.Args) > 0 && listed(" echo printf ", c.Args[0].Lit()) {
			for _, w := range c.Args[1:] {
				found = append(found, e.values(w)...)
			}
		}
	case *syntax.BinaryCmd:
		if c.Op == syntax.Pipe || c.Op == syntax.PipeAll {
			found = e.printed(e.printed(found, c.X), c.Y)
		}
	}
	return found
}

// code returns the words that are code among a program's arguments, and the number of those that are not options.
func (l *language) code(args []*syntax.Word) (code []*syntax.Word, operands int) {
	var rest []*syntax.Word
	for i := 0; i < len(args); i++ {
		text, parts := prefix(args[i])
		next := args[min(i+1, len(args)):min(i+2, len(args))]
		name, value, joined := strings.Cut(text, "=")
		switch long := strings.HasPrefix(text, "--"); {
		case parts == 0 && (text == "--" || text == "-" || text == ""): // the last as in sed -i ''
		case listed(l.pairs, text):
			i += 2
		case long && joined && value == "" && parts > 0 && listed(l.options, name):
			code = append(code, args[i])
		case long && listed(l.options, text):
			code = append(code, next...)
			i++
		case long && listed(l.skip, text):
			i++
		case long:
		case len(text) > 1 && text[0] == '-' && listed(l.options, text[len(text)-1:]):
			if parts > 0 {
				next = args[i : i+1]
			} else {
				i++
			}
			code = append(code, next...)
		case len(text) == 2 && text[0] == '-' && parts == 0 && listed(l.skip, text[1:]):
			i++
		case len(text) > 1 && text[0] == '-':
		default:
			rest = append(rest, args[i])
		}
	}
	if l.operand > 0 && len(rest) >= l.operand && len(code) == 0 {
		code = rest[l.operand-1:]
		if !l.all {
			code = code[:1]
		}
	}
	return code, len(rest)
}
