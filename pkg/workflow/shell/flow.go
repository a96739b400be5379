package shell

import (
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// trace says that some text has a template's value in it: which mark's, and through what it came, nothing when it is the
// template itself. The zero trace says that it has none.
type trace struct {
	mark int // counted from 1, or where else the template stands
	via  string
}

// Where a template stands that is not in the command.
const (
	ofEnv   = -1 // in the value of a variable of the node's env
	ofStdin = -2 // in what the node gives as standard input
)

func (t trace) found() bool { return t.mark != 0 }

func first(traces ...trace) trace {
	for _, t := range traces {
		if t.found() {
			return t
		}
	}
	return trace{}
}

// flow follows the values of templates through a command's variables, pipes and functions to where a shell takes text
// for code. It takes no account of the order of commands: a variable that is set from a template anywhere holds one
// everywhere. So it goes through the command until it learns nothing more, and then once again to report.
type flow struct {
	*draft
	held     map[string]trace // by variables; "1" stands for all positional parameters
	fed      map[string]trace // what functions read
	says     map[string]trace // what functions print
	written  map[string]trace // what files hold, by their names
	function map[string]bool
	integers map[string]bool // variables with bash's integer attribute
	arrays   map[string]bool
	keyed    map[string]bool               // associative arrays
	codes    map[*syntax.Word]*syntax.File // code that is given to a shell, parsed

	constants map[string][]string         // what variables are set to
	computed  map[string]bool             // variables that are set to something else too
	forwards  map[string][][]*syntax.Word // by functions: the words before their positional parameters in commands made of them
	body      string                      // the function at hand; none outside of them

	stdin     trace                 // of the command at hand
	document  *syntax.Word          // its here-document with a quoted delimiter
	substs    map[syntax.Node]trace // what substitutions print, in this pass
	foreign   int                   // how deep the text at hand is within code that is given to a shell
	changed   bool
	wary      bool // every variable is taken to hold a template
	reporting bool
}

const (
	positional = "1" // stands for $0, $1, $@ and $*
	maxPasses  = 40  // for a chain of variables, each set before the one it is set from
	maxForeign = 4   // for code in code
)

// follow notes the problems of the values' ways through the command.
func (d *draft) follow(file *syntax.File) {
	f := &flow{draft: d, held: map[string]trace{}, fed: map[string]trace{}, says: map[string]trace{}, written: map[string]trace{}, function: map[string]bool{},
		integers: map[string]bool{}, arrays: map[string]bool{}, keyed: map[string]bool{}, codes: map[*syntax.Word]*syntax.File{},
		constants: map[string][]string{}, computed: map[string]bool{}, forwards: map[string][][]*syntax.Word{}}
	in := trace{}
	if d.StdinTainted {
		in = trace{mark: ofStdin}
	}
	for passes := 1; ; passes++ {
		f.changed, f.substs = false, map[syntax.Node]trace{}
		for _, name := range d.Tainted {
			f.set(name, trace{mark: ofEnv, via: "$" + name})
		}
		f.stmts(file.Stmts, in)
		if f.reporting {
			return
		}
		f.wary = passes >= maxPasses
		f.reporting = !f.changed || f.wary
	}
}

// subject is what a trace is of, as it stands in a message.
func (f *flow) subject(t trace) string {
	if t.via == "" {
		return f.expr(t)
	}
	return fmt.Sprintf("%s, which holds %s,", t.via, f.expr(t))
}

func (f *flow) expr(t trace) string {
	switch t.mark {
	case ofEnv:
		return "a template of the node's env"
	case ofStdin:
		return "the node's standard input"
	}
	return f.marks[t.mark-1].expr.String()
}

// fail notes an error, if there is something to trace, and reports whether there is. In the suggestion ${…} stands for it.
func (f *flow) fail(t trace, where, suggest string) bool {
	if f.reporting && t.found() {
		f.blame(t.mark-1, f.subject(t)+" stands "+where, f.filled(suggest, t))
	}
	return t.found()
}

// caution notes a warning in the same way.
func (f *flow) caution(t trace, where, suggest string) {
	if f.reporting && t.found() {
		f.warn(t.mark-1, f.subject(t)+" stands "+where, f.filled(suggest, t))
	}
}

func (f *flow) filled(suggest string, t trace) string {
	written := t.via
	switch {
	case t.mark < 0 && (written == "" || written[0] != '$' || written == "$(…)"):
		written = "$1"
	case written == "":
		written = f.expr(t)
	}
	return strings.ReplaceAll(suggest, "${…}", written)
}

// any is where some template stands.
func (f *flow) any() int {
	switch {
	case len(f.marks) > 0:
		return 1
	case len(f.Tainted) > 0:
		return ofEnv
	}
	return ofStdin
}

// hold notes that a variable is set from a template.
func (f *flow) hold(name string, t trace) { f.learn(f.held, name, t) }

func (f *flow) learn(traces map[string]trace, name string, t trace) {
	if t.found() && name != "" && !traces[name].found() {
		traces[name] = t
		f.changed = true
	}
}

// variable is what a variable holds.
func (f *flow) variable(name string) trace {
	if name == "" {
		return trace{}
	}
	if i, ok := f.index[name]; ok {
		return trace{mark: i + 1}
	}
	key := name
	if name == "@" || name == "*" || name[0] >= '0' && name[0] <= '9' {
		key = positional
	}
	t := f.held[key]
	if f.wary && shellName(name) != "" {
		t = first(t, trace{mark: f.any()})
	}
	t.via = "$" + name
	return t
}
