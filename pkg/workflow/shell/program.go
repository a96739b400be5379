package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// language is a program that is given code in a language of its own, and how to give that a value.
type language struct {
	names   string
	options string // single letters, and long options, behind which code stands
	skip    string // the same, behind which something else stands
	pairs   string // options behind which two words stand
	operand int    // the operand that is code when no option gives any, or from which on all are; 0 if none is
	all     bool   // from that operand on all are code
	reads   reads
	form    string // what to write instead, in which ${…} stands for the template
}

// reads says when a program takes its standard input for code.
type reads int

const (
	never      reads = iota
	scriptless       // when it is given none among its arguments and no operand either, which would be a file of code
	always           // when it is given none among its arguments
)

const sqlForm = `Check it in a node of its own, or let the client quote it: psql -v v="${…}" <<'EOF', and :'v' in the SQL`

var languages = []language{
	{names: " awk gawk mawk nawk ", options: " e --source ", skip: " F v f i l --assign --field-separator --file ", operand: 1,
		form: `Give it to awk in the environment: v="${…}" awk '… ENVIRON["v"] …'`},
	{names: " sed gsed ", options: " e --expression ", skip: " f l --file ", operand: 1,
		form: `Use a command that takes it as data: v="${…}" awk '… ENVIRON["v"] …'`},
	{names: " jq yq gojq jaq ", skip: " f L --indent --from-file ", pairs: " --arg --argjson --slurpfile --rawfile ", operand: 1,
		form: `Give it to jq as a variable: jq --arg v "${…}" '… $v …'`},
	{names: " perl ", options: " e E ", reads: scriptless,
		form: `Give it to the code as an argument: perl -e '… $ARGV[0] …' "${…}"`},
	{names: " python python2 python3 pypy3 ", options: " c ", reads: scriptless,
		form: `Give it to the code as an argument: python3 -c 'import sys; … sys.argv[1] …' "${…}"`},
	{names: " ruby ", options: " e ", reads: scriptless,
		form: `Give it to the code as an argument: ruby -e '… ARGV[0] …' "${…}"`},
	{names: " node nodejs bun ", options: " e p --eval --print ", reads: scriptless,
		form: `Give it to the code as an argument: node -e '… process.argv[1] …' "${…}"`},
	{names: " php ", options: " r ", reads: scriptless,
		form: `Give it to the code as an argument: php -r '… $argv[1] …' "${…}"`},
	{names: " lua luajit Rscript osascript pwsh powershell ", options: " e c --command ", reads: scriptless,
		form: `Give it to the code in the environment: v="${…}" lua -e '… os.getenv("v") …'`},
	{names: " psql mysql mariadb clickhouse-client duckdb ", options: " c e q --command --execute --query ", skip: " d f h p U v L o F R P T ", reads: always, form: sqlForm},
	{names: " sqlite3 ", operand: 2, all: true, reads: always, form: sqlForm},
	{names: " dc ", options: " e --expression ", reads: scriptless, form: `Compute it in $((…)), where only an integer is accepted: $((${…} + 1))`},
	{names: " ssh ", skip: " b c D E e F I i J L l m O o p Q R S W w ", operand: 2, all: true, reads: always,
		form: `Send it as input: printf '%s\n' "${…}" | ssh host 'IFS= read -r v; … "$v" …'`},
}

// makefile reports whether make reads what it makes from standard input.
func makefile(args []*syntax.Word) bool {
	for i, a := range args {
		text, _ := static(a)
		if listed(" -f- --file=- --makefile=- ", text) || text == "-f" && i+1 < len(args) && (args[i+1].Lit() == "-" || isStdin(args[i+1])) {
			return true
		}
	}
	return false
}

// located finds the program that takes code in a command, which another may start, and its arguments.
func located(args []*syntax.Word) (name string, rest []*syntax.Word, l *language) {
	for i, a := range args {
		text, _ := static(a)
		name = base(text)
		for j := range languages {
			if listed(languages[j].names, name) {
				return name, args[i+1:], &languages[j]
			}
		}
		if i == 0 && !listed(carriers, name) {
			break
		}
	}
	return "", nil, nil
}

// programs warns of values in code that is no shell's.
func (f *flow) programs(args []*syntax.Word, in trace) {
	f.started(args)
	if program, _ := static(args[0]); listed(" make gmake ", base(program)) && makefile(args[1:]) {
		f.caution(in, "in what make reads as code", "Give it to make in the environment, and let the shell expand it in a recipe: "+`v="${…}" make, and "$$v" there`)
	}
	name, rest, l := located(args)
	if l == nil {
		return
	}
	code, operands := l.split(rest)
	f.caution(f.words(code), "in code that is given to "+name, l.form)
	if len(code) == 0 && (l.reads == always || l.reads == scriptless && operands == 0) {
		f.caution(in, "in what "+name+" reads as code", l.form)
	}
}

// split finds the words that are code among a program's arguments, and counts those that are no options.
func (l *language) split(args []*syntax.Word) (code []*syntax.Word, operands int) {
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
		case len(text) > 1 && text[0] == '-' && parts > 0:
			if listed(l.options, text[1:2]) {
				code = append(code, args[i])
			}
		case len(text) > 1 && text[0] == '-' && listed(l.options, text[len(text)-1:]):
			code = append(code, next...)
			i++
		case len(text) == 2 && text[0] == '-' && listed(l.skip, text[1:]):
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

// started warns of values among the words of a command that find or xargs makes and starts.
func (f *flow) started(args []*syntax.Word) {
	const form = `Let a shell of its own expand it: export v="${…}"; `
	for i, a := range args {
		switch text, _ := static(a); {
		case i > 0 && !listed(carriers, base(args[0].Lit())):
			return
		case base(text) == "xargs":
			rest := args[i+1:]
			for len(rest) > 0 && strings.HasPrefix(rest[0].Lit(), "-") {
				if option := rest[0].Lit(); len(option) == 2 && strings.Contains("IdEanPLs", option[1:]) {
					rest = rest[1:]
				}
				rest = rest[min(1, len(rest)):]
			}
			f.caution(f.words(rest), "in the command of xargs, which makes it anew for what it reads", form+`… | xargs -n 1 sh -c 'command "$v" "$1"' sh`)
			return
		case base(text) == "find":
			inside := false
			for _, b := range args[i+1:] {
				switch word, _ := static(b); word {
				case "-exec", "-execdir", "-ok", "-okdir":
					inside = true
				case ";", "+":
					inside = false
				default:
					if inside {
						f.caution(f.word(b), "in the command of find -exec, which puts file names in for {}", form+`find … -exec sh -c 'command "$v" "$1"' sh {} \;`)
					}
				}
			}
			return
		}
	}
}
