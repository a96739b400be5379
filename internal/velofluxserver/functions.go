package velofluxserver

import (
	"net/http"
	"slices"
	"strings"
)

// functionDef is a function of the catalog.
type functionDef struct {
	Kind         string      `json:"kind"`
	Name         string      `json:"name"`
	Aliases      []string    `json:"aliases"`
	Signature    signature   `json:"signature"`
	Description  string      `json:"description"`
	Contexts     []string    `json:"allowed_contexts"`
	Requirements []kind      `json:"requirements"`
	Constraints  []string    `json:"constraints"`
	Examples     []string    `json:"examples"`
	Aggregate    *aggregate  `json:"aggregate,omitempty"`
	Stateful     *statefulIn `json:"stateful,omitempty"`
}

type signature struct {
	Args   []argument `json:"args"`
	Return dataType   `json:"return_type"`
}

type argument struct {
	Name     string   `json:"name"`
	Type     dataType `json:"type"`
	Optional bool     `json:"optional"`
	Variadic bool     `json:"variadic"`
}

type dataType struct {
	Kind string `json:"kind"`
	Name string `json:"name,omitempty"`
}

type kind struct {
	Kind string `json:"kind"`
}

type aggregate struct {
	Incremental bool `json:"supports_incremental"`
}

type statefulIn struct {
	Semantics string `json:"state_semantics"`
}

// functions returns the catalog, sorted by name. As in the real one, isnull is there twice.
func functions() []functionDef {
	anything, numeric := dataType{Kind: "any"}, dataType{"category", "numeric"}
	named := func(name string) dataType { return dataType{"named", name} }
	arg := func(name string, t dataType) argument { return argument{Name: name, Type: t} }
	optional := func(a argument) argument { a.Optional = true; return a }
	variadic := func(a argument) argument { a.Variadic = true; return a }
	args := func(all ...argument) []argument { return append([]argument{}, all...) }
	return []functionDef{
		scalar("abs", "The distance of a number from zero.", args(arg("x", named("float"))), named("float")),
		aggregated("avg", "The mean of the numbers in a group.", args(arg("x", numeric)), named("float64")),
		scalar("ceil", "The least whole number that is not below a number.", args(arg("x", numeric)), numeric, "ceiling"),
		scalar("coalesce", "The first argument that is not NULL.", args(variadic(arg("values", anything))), anything),
		scalar("concat", "One text behind another.", args(arg("a", named("string")), arg("b", named("string"))), named("string")),
		aggregated("count", "How many rows a group has.", args(optional(arg("x", anything))), named("int64")),
		withState("had_changed", "Whether one of the values differs from that of the row before.", args(arg("ignore_null", named("bool")), variadic(arg("x", anything))), named("bool")),
		scalar("isnull", "Whether a value is NULL.", args(arg("value", named("any"))), named("bool")),
		scalar("isnull", "Whether there is no value.", args(arg("value", named("any"))), named("bool")),
		withState("lag", "The value of an earlier row.", args(arg("x", anything), optional(arg("offset", named("int64"))), optional(arg("ignore_null", named("bool")))), anything),
		withState("latest", "The last value that is not NULL.", args(arg("x", anything)), anything),
		scalar("length", "How many characters a text has.", args(arg("s", named("string"))), named("int64")),
		scalar("lower", "A text in small letters.", args(arg("s", named("string"))), named("string")),
		aggregated("max", "The greatest value of a group.", args(arg("x", anything)), anything),
		aggregated("min", "The least value of a group.", args(arg("x", anything)), anything),
		scalar("now", "The time, in UTC.", args(), named("timestamp"), "current_timestamp"),
		scalar("pow", "A number raised to another.", args(arg("base", numeric), arg("exponent", numeric)), named("float64"), "power"),
		scalar("round", "A number rounded to some places.", args(arg("x", numeric), optional(arg("places", named("int64")))), numeric),
		aggregated("sum", "The sum of the numbers in a group.", args(arg("x", numeric)), numeric),
		scalar("upper", "A text in capital letters.", args(arg("s", named("string"))), named("string")),
	}
}

func define(kindOf, name, description string, args []argument, result dataType) functionDef {
	var names []string
	for _, a := range args {
		names = append(names, a.Name)
	}
	return functionDef{
		Kind: kindOf, Name: name, Aliases: []string{}, Signature: signature{args, result}, Description: description,
		Contexts: []string{"select"}, Requirements: []kind{}, Constraints: []string{"Refuses arguments of other types."},
		Examples: []string{"SELECT " + name + "(" + strings.Join(names, ", ") + ") FROM stream"},
	}
}

func scalar(name, description string, args []argument, result dataType, aliases ...string) functionDef {
	f := define("scalar", name, description, args, result)
	f.Aliases = append(f.Aliases, aliases...)
	f.Contexts = []string{"select", "where", "group_by"}
	return f
}

func aggregated(name, description string, args []argument, result dataType) functionDef {
	f := define("aggregate", name, description, args, result)
	f.Requirements = []kind{{"aggregate_context"}}
	f.Aggregate = &aggregate{Incremental: true}
	return f
}

func withState(name, description string, args []argument, result dataType) functionDef {
	f := define("stateful", name, description, args, result)
	f.Contexts = []string{"select", "where"}
	f.Requirements = []kind{{"deterministic_order"}}
	f.Stateful = &statefulIn{"Keeps what came before, for each partition on its own."}
	return f
}

// functionNamed returns a function by its name or an alias, in any case.
func functionNamed(name string) (f functionDef, ok bool) {
	same := func(other string) bool { return strings.EqualFold(name, other) }
	for _, f := range functions() {
		if same(f.Name) || slices.ContainsFunc(f.Aliases, same) {
			return f, true
		}
	}
	return functionDef{}, false
}

// functionKind returns the kind of a function, or "" if it does not exist.
func functionKind(name string) string {
	f, _ := functionNamed(name)
	return f.Kind
}

// availableFunctions returns the scalar functions as the planner lists them.
func availableFunctions() string {
	var names []string
	for _, f := range functions() {
		if f.Kind == "scalar" {
			for _, name := range append([]string{f.Name}, f.Aliases...) {
				names = append(names, `"`+name+`"`)
			}
		}
	}
	slices.Sort(names)
	return "[" + strings.Join(slices.Compact(names), ", ") + "]"
}

func (s *Server) listFunctions(*call) response { return jsonResponse(http.StatusOK, functions()) }

func (s *Server) describeFunction(c *call) response {
	f, ok := functionNamed(c.arg)
	if !ok {
		return textResponse(http.StatusNotFound, "function "+c.arg+" not found")
	}
	return jsonResponse(http.StatusOK, f)
}
