package check

import (
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/workflow/plan"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// functions checks that the functions of a template get text, and warns if they look as if they applied to all alternatives.
func (c *checker) functions(p place, e *template.Expr) {
	if e == nil {
		return
	}
	plain := false // whether a reference without functions comes before
	for _, t := range e.Terms {
		switch {
		case t.Ref == nil:
		case t.Functions == nil:
			plain = true
		default:
			if plain {
				c.located(c.warn(p.path, "In %s, %s applies to ${%s} only", e, strings.Join(t.Functions, " | "), t.Ref.Expression()), p).
					Suggest("Write the function behind each reference that needs it")
				plain = false
			}
			c.argument(p, t)
		}
	}
}

// argument checks the types of the values that the functions of a term get.
func (c *checker) argument(p place, t template.Term) {
	if p.node != nil && slices.Contains(plan.Locals(p.node), t.Ref.Root) { // the type of a local name is not known
		return
	}
	typ := c.typeOf(*t.Ref)
	for i, name := range t.Functions {
		switch typ {
		case "int", "float", "bool", "list", "dict":
			so := template.Expr{Terms: []template.Term{{Ref: t.Ref, Functions: t.Functions[:i]}}}
			c.at(p, "%s takes text, but %s is of type %s", name, so, typ).Suggest("Leave %s out", name)
			return
		}
		typ = template.FunctionType(name)
	}
}

// unknownFunctions reports the functions in the parts of a shell command that do not exist, and whether there are any: the shell
// would report them as faults of its own syntax.
func (c *checker) unknownFunctions(parts []template.Part, p place) (found bool) {
	for _, part := range parts {
		if _, unknown := template.UnknownFunction(part.Source); part.Bad && unknown {
			c.malformed(p, part.Source)
			found = true
		}
		p.offset += len(part.Source)
	}
	return found
}
