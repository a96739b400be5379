package shell

import (
	"strconv"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// Limits of the system for the start of a program, in bytes.
const (
	// MaxVariable limits an argument, and a variable with its name and the equals sign (MAX_ARG_STRLEN of Linux).
	MaxVariable = 131071
	// MaxEnvironment limits all arguments and variables together: a quarter of the usual stack.
	MaxEnvironment = 2 << 20
)

// perString is the size of a terminating byte and a pointer, which each argument and variable takes as well.
const perString = 1 + 8

// Accepts returns nil if a value can take the template's place, and a template_error otherwise.
func (v Var) Accepts(value string) *fault.Fault {
	switch {
	case strings.ContainsRune(value, 0):
		return v.refuse("contains a NUL byte, which variables and arguments cannot hold")
	case v.Name != "" && len(v.Name)+1+len(value) > MaxVariable:
		return v.refuse("is " + strconv.Itoa(len(value)) + " bytes long; a variable holds at most " + strconv.Itoa(MaxVariable-len(v.Name)-1))
	case v.Integer && !isInteger(value):
		f := fault.New(fault.Template, "The value of %s is used in arithmetic and must be a decimal integer of at most 64 bits, without leading zeros", v.Expr)
		return f.Suggest("Pass an integer, or compute with a command that takes other numbers, such as awk")
	}
	return nil
}

func (v Var) refuse(why string) *fault.Fault {
	return fault.New(fault.Template, "The value of %s cannot be used in a command: it %s", v.Expr, why).
		Suggest(`Pass it as standard input: "stdin": "%s"`, v.Expr)
}

// isInteger reports whether every shell reads a text as the same integer. A leading zero would make it octal.
func isInteger(s string) bool {
	digits := strings.TrimLeft(s, "+-")
	if len(s)-len(digits) > 1 || digits == "" || len(digits) > 1 && digits[0] == '0' || digits[0] < '0' || digits[0] > '9' {
		return false
	}
	_, err := strconv.ParseInt(s, 10, 64)
	return err == nil
}

// Fits returns nil if the system can start a program with these arguments, including its name, and this environment, and a
// template_error otherwise.
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
	f := fault.New(fault.Template, "The command cannot be started: its arguments and environment take %d bytes; the system allows at most %d", total, MaxEnvironment)
	if largest > MaxVariable {
		f = fault.New(fault.Template, "The command cannot be started: one of its arguments or variables takes %d bytes; the system allows at most %d", largest, MaxVariable)
	}
	if v, ok := s.largest(env); ok {
		return f.Suggest(`Pass the largest value as standard input: "stdin": "%s"`, v.Expr)
	}
	return f.Suggest(`Pass its large parts as standard input ("stdin"), or put them into a file`)
}

// largest returns the template with the largest variable in an environment, or false if no variable has a value.
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
