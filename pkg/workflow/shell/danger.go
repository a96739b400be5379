package shell

import (
	"fmt"
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// danger finds commands that destroy the system on which they run: rm -rf /, dd to a device, mkfs, a fork bomb, chmod -R and
// chown -R of /, which is upstream pflow's list. It reads the syntax tree, so neither text in quotes nor a longer path
// counts.
type danger struct {
	values map[string]string // of variables
	depth  int               // the nesting in code for a shell
	what   string            // the first command that was found
	at     uint
}

// alarming reports whether a text could contain such a command. Most do not, and are not parsed.
func alarming(text string) bool {
	has := func(s string) bool { return strings.Contains(text, s) }
	switch {
	case has("rm") && has("-"), has("mkfs"), has("chmod"), has("chown"), has("chgrp"):
		return true
	case has("/dev/"):
		return has("of=") || has(">")
	}
	return has("(") && has("|") && has("&") && has("}")
}

// dangerous returns the first destructive command in a text and its offset, or "".
func dangerous(text string, values map[string]string, depth int) (what string, at uint) {
	if !alarming(text) && len(values) == 0 || depth > 3 || nesting(text) > maxNesting {
		return "", 0
	}
	file, err := parse(text, syntax.LangBash)
	if err != nil {
		if file, err = parse(text, syntax.LangPOSIX); err != nil {
			return "", 0
		}
	}
	d := danger{values: values, depth: depth}
	syntax.Walk(file, func(n syntax.Node) bool {
		if n != nil && d.what == "" {
			d.at = n.Pos().Offset()
			d.look(n)
		}
		return d.what == ""
	})
	return d.what, d.at
}

func (d *danger) look(n syntax.Node) {
	switch n := n.(type) {
	case *syntax.CallExpr:
		var words []string
		for _, a := range n.Args {
			words = append(words, d.fields(a)...)
		}
		d.call(words)
	case *syntax.Redirect:
		writes := n.Op == syntax.RdrOut || n.Op == syntax.AppOut || n.Op == syntax.RdrClob || n.Op == syntax.RdrAll || n.Op == syntax.AppAll
		if target := d.fields(n.Word); writes && len(target) == 1 && disk(target[0]) {
			d.what = "> " + target[0]
		}
	case *syntax.FuncDecl:
		if n.Name != nil && bomb(n.Name.Value, n.Body) {
			d.what = fmt.Sprintf("%s() { %[1]s | %[1]s & }", n.Name.Value)
		}
	}
}

// bomb reports whether a function starts itself twice in the background.
func bomb(name string, body *syntax.Stmt) (found bool) {
	calls := func(s *syntax.Stmt) bool {
		c, ok := s.Cmd.(*syntax.CallExpr)
		return ok && len(c.Args) == 1 && c.Args[0].Lit() == name
	}
	syntax.Walk(body, func(n syntax.Node) bool {
		s, ok := n.(*syntax.Stmt)
		if !ok || !s.Background {
			return true
		}
		pipe, ok := s.Cmd.(*syntax.BinaryCmd)
		found = found || ok && (pipe.Op == syntax.Pipe || pipe.Op == syntax.PipeAll) && calls(pipe.X) && calls(pipe.Y)
		return true
	})
	return found
}

// call examines the words of a simple command.
func (d *danger) call(words []string) {
	words = carriedOut(words)
	if len(words) == 0 {
		return
	}
	name, args := base(words[0]), words[1:]
	operands, recursive := operandsOf(args)
	switch {
	case name == "rm" && recursive:
		d.each(name, args, operands, func(w string) bool { return everything(w) || home(w) })
	case listed(" chmod chown chgrp ", name) && recursive:
		d.each(name, args, operands, everything)
	case name == "dd":
		d.each(name, nil, args, func(w string) bool { file, ok := strings.CutPrefix(w, "of="); return ok && device(file) })
	case name == "mkfs", strings.HasPrefix(name, "mkfs."):
		d.each(name, nil, operands, device)
	case name == "eval":
		d.code(strings.Join(args, " "))
	case listed(shells, name):
		for i, w := range args {
			if len(w) > 1 && w[0] == '-' && w[1] != '-' && strings.HasSuffix(w, "c") && i+1 < len(args) {
				d.code(args[i+1])
				break
			}
		}
	}
}

func (d *danger) code(text string) {
	d.what, _ = dangerous(unescaped(text, globs), nil, d.depth+1)
}

// each records a program with its options and the first of its operands that is forbidden.
func (d *danger) each(name string, args, operands []string, forbidden func(string) bool) {
	for _, o := range operands {
		if !forbidden(o) {
			continue
		}
		said := []string{name}
		for _, a := range args {
			if len(a) > 1 && a[0] == '-' && a[1] != '-' || listed(" --recursive --force ", a) {
				said = append(said, a)
			}
		}
		if name == "chmod" || name == "chown" || name == "chgrp" {
			said = append(said, operands[0])
		}
		d.what = fault.Truncate(strings.Join(append(said, o), " "), 80)
		return
	}
}

// operandsOf returns the arguments that are not options, and reports whether an option makes the program recursive.
func operandsOf(args []string) (operands []string, recursive bool) {
	for i, a := range args {
		switch {
		case a == "--":
			return append(operands, args[i+1:]...), recursive
		case a == "--recursive":
			recursive = true
		case strings.HasPrefix(a, "--") || a == "-":
		case strings.HasPrefix(a, "-"):
			recursive = recursive || strings.ContainsAny(a, "rR")
		default:
			operands = append(operands, a)
		}
	}
	return operands, recursive
}

// everything reports whether a word names the root folder or all its files.
func everything(word string) bool {
	folder, last := path.Split(word)
	if last != "" && strings.Trim(last, "*?.") == "" && strings.ContainsAny(last, "*?") {
		word = folder
	}
	return strings.HasPrefix(word, "/") && path.Clean(word) == "/"
}

// home reports whether a word names the user's home folder or all its files.
func home(word string) bool {
	rest, ok := strings.CutPrefix(word, "~")
	return ok && (rest == "" || everything(rest))
}

// device reports whether a path names a device that stores data.
func device(file string) bool {
	name, ok := strings.CutPrefix(path.Clean(file), "/dev/")
	first, _, _ := strings.Cut(name, "/")
	return ok && !strings.HasPrefix(first, "tty") && !listed(" null zero full random urandom stdin stdout stderr fd shm pts ptmx console ", first)
}

// disk reports whether a path names a disk or a partition.
func disk(file string) bool {
	name, ok := strings.CutPrefix(path.Clean(file), "/dev/")
	if !ok {
		return false
	}
	for _, kind := range []string{"sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "rdisk", "mapper/", "dm-"} {
		if strings.HasPrefix(name, kind) {
			return true
		}
	}
	return false
}

// carriedOut returns the words of a command without leading programs that only start another, such as sudo or env.
func carriedOut(words []string) []string {
	for len(words) > 0 {
		name := base(words[0])
		valued, operands := "", 0 // the options that a value follows, and the number of operands before the command
		switch name {
		case "sudo", "doas":
			valued = "ugpCrtUDRTh"
		case "env":
			valued = "uC"
		case "nice":
			valued = "n"
		case "ionice":
			valued = "cnp"
		case "timeout":
			valued, operands = "ks", 1
		case "xargs":
			valued = "IdEanPLs"
		case "command", "builtin", "exec", "nohup", "setsid", "time", "busybox":
		default:
			return words
		}
		words = words[1:]
		for len(words) > 0 && strings.HasPrefix(words[0], "-") {
			option := words[0]
			words = words[1:]
			if option == "--" {
				break
			}
			if name == "command" && strings.ContainsAny(option, "vV") { // it only names the command
				return nil
			}
			if len(option) == 2 && strings.Contains(valued, option[1:]) {
				words = words[min(1, len(words)):]
			}
		}
		for len(words) > 0 && strings.Contains(words[0], "=") {
			words = words[1:]
		}
		words = words[min(operands, len(words)):]
	}
	return nil
}

// Danger returns the problem of a script that is destructive with these values of Vars, in their order, or nil. [Parse]
// reports what is destructive with any values.
func (s *Script) Danger(values []string) *Problem {
	if len(s.Vars) == 0 {
		return nil
	}
	command, _ := s.Render(values)
	said := []string{command}
	for _, v := range values {
		if len(v) <= longestPath {
			said = append(said, v)
		}
	}
	if !alarming(strings.Join(said, " ")) {
		return nil
	}
	known := map[string]string{}
	for i, v := range s.Vars {
		if v.Name != "" {
			known[v.Name] = values[i]
		}
	}
	what, _ := dangerous(command, known, 0)
	if what == "" {
		return nil
	}
	p := refused(what)
	p.Suggest = fmt.Sprintf("Look at the values of its templates (%s): one may be empty, or name another folder than you mean. ", s.names()) + p.Suggest
	return &p
}

// longestPath is the length of the longest path of a file (Linux's PATH_MAX).
const longestPath = 4096

func (s *Script) names() string {
	var names []string
	for _, v := range s.Vars {
		names = append(names, v.Expr.String())
	}
	return strings.Join(names, ", ")
}

func refused(what string) Problem {
	return Problem{
		Kind: Destructive, Message: "Dangerous command pattern detected: " + what, Offset: -1,
		Suggest: "Correct the command; if it is really meant, put it into a script file and call that",
	}
}
