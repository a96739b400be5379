package shell

import (
	"strconv"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// What a system lets a program be started with, in bytes.
const (
	// MaxVariable is the most that a variable takes with its name and the equals sign, and an argument (Linux's
	// MAX_ARG_STRLEN).
	MaxVariable = 131071
	// MaxEnvironment is the most that all arguments and variables take together: a quarter of the usual stack.
	MaxEnvironment = 2 << 20
)

// perString is what an argument or a variable takes besides its text: a byte that ends it, and a pointer.
const perString = 1 + 8

// Accepts says whether a value can stand in a template's place; nil if it can.
func (v Var) Accepts(value string) *fault.Fault {
	switch {
	case strings.ContainsRune(value, 0):
		return v.refuse("has a NUL byte, which no variable and no argument can hold")
	case v.Name != "" && len(v.Name)+1+len(value) > MaxVariable:
		return v.refuse("has " + strconv.Itoa(len(value)) + " bytes, and a variable holds at most " + strconv.Itoa(MaxVariable-len(v.Name)-1))
	case v.Integer && !isInteger(value):
		f := fault.New(fault.Template, "The value of %s stands in arithmetic and is no integer: decimal digits, perhaps with a sign, no zero before them and within 64 bits", v.Expr)
		return f.Suggest("Give an integer, or compute with it in a command that takes other numbers, such as awk")
	}
	return nil
}

func (v Var) refuse(why string) *fault.Fault {
	return fault.New(fault.Template, "The value of %s cannot stand in a command: it %s", v.Expr, why).
		Suggest(`Give it to the command as standard input: "stdin": "%s"`, v.Expr)
}

// isInteger says whether every shell reads a text as the same integer. A zero in front would make it octal.
func isInteger(s string) bool {
	digits := strings.TrimLeft(s, "+-")
	if len(s)-len(digits) > 1 || digits == "" || len(digits) > 1 && digits[0] == '0' || digits[0] < '0' || digits[0] > '9' {
		return false
	}
	_, err := strconv.ParseInt(s, 10, 64)
	return err == nil
}

// Fits says whether a program can be started with these arguments, its own name among them, and with this environment;
// nil if it can.
func (s *Script) Fits(args, env []string) *fault.Fault {
	total, largest := 0, 0
	for _, list := range [][]string{args, env} {
		for _, text := range list {
			total += len(text) + perString
			largest = max(largest, len(text))
		}
	}
	if total <= MaxEnvironment && largest <= MaxVariable {
		return nil
	}
	f := fault.New(fault.Template, "The command cannot be started: its arguments and its environment have %d bytes together, and the system takes at most %d", total, MaxEnvironment)
	if largest > MaxVariable {
		f = fault.New(fault.Template, "The command cannot be started: one of its arguments or variables has %d bytes, and the system takes at most %d", largest, MaxVariable)
	}
	if v, ok := s.largest(env); ok {
		return f.Suggest(`Give the largest value to it as standard input: "stdin": "%s"`, v.Expr)
	}
	return f.Suggest(`Give what is large in it to the command as standard input ("stdin"), or put it into a file`)
}

// largest is the template whose variable is the largest in an environment.
func (s *Script) largest(env []string) (largest Var, ok bool) {
	sizes := make(map[string]int, len(env))
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		sizes[name] = len(value)
	}
	most := 0
	for _, v := range s.Vars {
		if n := sizes[v.Name]; n > most {
			largest, most = v, n
		}
	}
	return largest, most > 0
}
