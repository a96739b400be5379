package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// echoing are the commands that print what they are given as arguments; silent those that print nothing of what they
// read, or numbers alone. All others are taken to print what they read, and not their arguments.
const (
	echoing = " echo printf basename dirname realpath readlink find expr sh bash dash zsh ksh "
	silent  = " : true false test [ cd read export unset shift kill sleep mkdir rm touch wc cksum md5sum sha1sum sha256sum sha512sum cmp exit return "
	leading = " command builtin exec env nohup timeout nice sudo doas setsid stdbuf time "
)

// printed is what a command prints, given what it reads.
func (f *flow) printed(args []*syntax.Word, in trace) trace {
	name, _ := static(args[0])
	for len(args) > 1 && listed(leading, base(name)) {
		args = args[1:]
		for len(args) > 1 { // options, variables and durations
			if text, _ := prefix(args[0]); text != "" && text[0] != '-' && !strings.Contains(text, "=") && (text[0] < '0' || text[0] > '9') {
				break
			}
			args = args[1:]
		}
		name, _ = static(args[0])
	}
	if in.mark == ofStdin && !filters(base(name), args[1:]) {
		in = trace{}
	}
	switch name = base(name); {
	case listed(silent, name), counts(name, args[1:]):
		return trace{}
	case listed(echoing, name):
		return first(f.words(args[1:]), in)
	}
	for _, a := range args[1:] {
		in = first(in, f.content(a))
	}
	return in
}

// filters reports whether a command prints what it reads of the node's standard input, which few commands read at all.
func filters(name string, args []*syntax.Word) bool {
	operands := 0
	for _, a := range args {
		if text, _ := prefix(a); !isStdin(a) && (text == "" || text[0] != '-' && (text[0] < '0' || text[0] > '9')) {
			operands++
		}
	}
	switch {
	case listed(" tee tr ", name):
		return true
	case listed(" awk sed grep jq yq perl cut ", name):
		return operands <= 1
	}
	return listed(" cat head tail sort uniq tac rev base64 fold nl xargs ", name) && operands == 0
}

// counts reports whether a command lets through nothing but numbers.
func counts(name string, args []*syntax.Word) bool {
	var options, operands []string
	for _, a := range args {
		if text, _ := static(a); strings.HasPrefix(text, "-") {
			options = append(options, text)
		} else {
			operands = append(operands, text)
		}
	}
	flags, operand := strings.Join(options, ""), strings.Join(operands[:min(1, len(operands))], "")
	switch name {
	case "grep", "egrep":
		return strings.ContainsAny(flags, "cq") || strings.Contains(flags, "o") && listed(" [0-9]* [0-9]+ [0-9][0-9]* ", operand)
	case "tr":
		return strings.Contains(flags, "d") && strings.ContainsAny(flags, "cC") && listed(" 0-9 [:digit:] [0-9] ", operand)
	case "sed":
		return listed(" s/[^0-9]//g s/[^0-9]*//g ", operand)
	case "jq":
		return strings.HasSuffix(operand, "length")
	case "printf":
		return numeric(operand)
	}
	return false
}

// numeric reports whether a format of printf prints its arguments as numbers alone.
func numeric(format string) bool {
	directives := strings.Split(strings.ReplaceAll(format, "%%", ""), "%")
	for _, d := range directives[1:] {
		if d = strings.TrimLeft(d, "0123456789.+-# "); d == "" || strings.IndexByte("diuoxXeEfgG", d[0]) < 0 {
			return false
		}
	}
	return len(directives) > 1
}
