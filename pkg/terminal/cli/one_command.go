package cli

import (
	"reflect"
	"slices"
	"strings"
)

// ofCommand returns the part of a grammar that the arguments need, and its common flags: those and the command that the arguments
// name. To build the whole grammar takes kong a millisecond. It returns the whole one unless it is certain which command is meant.
func ofCommand(g Grammar, args []string) (part any, common *Common) {
	name, ok := commandIn(args)
	if !ok {
		return g, g.common()
	}
	var named []reflect.StructField
	for f := range reflect.TypeOf(g).Elem().Fields() {
		_, command := f.Tag.Lookup("cmd")
		_, standard := f.Tag.Lookup("default")
		switch {
		case f.Type == reflect.TypeFor[Common]():
		case !command || standard: // it may take the arguments, too
			return g, g.common()
		case slices.Contains(namesOf(f), name):
			named = append(named, f)
		}
	}
	if len(named) != 1 {
		return g, g.common()
	}
	one := reflect.New(reflect.StructOf([]reflect.StructField{{Name: "Common", Type: reflect.TypeFor[Common](), Tag: `embed:""`}, named[0]}))
	return one.Interface(), one.Elem().Field(0).Addr().Interface().(*Common)
}

// commandIn returns the first argument that is not a flag. It reports false if that may be the value of one.
func commandIn(args []string) (string, bool) {
	for _, arg := range args {
		switch {
		case !strings.HasPrefix(arg, "-"):
			return arg, true
		case arg == "-q" || arg == "--quiet" || strings.HasPrefix(arg, "--") && strings.Contains(arg, "="):
		default:
			return "", false
		}
	}
	return "", false
}

// namesOf returns the names of the command that a field of a grammar declares. A name of several words without a tag is not among
// them.
func namesOf(f reflect.StructField) []string {
	names := strings.Split(f.Tag.Get("aliases"), ",")
	if name, ok := f.Tag.Lookup("name"); ok {
		return append(names, name)
	}
	return append(names, strings.ToLower(f.Name))
}
