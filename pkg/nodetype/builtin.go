package nodetype

import (
	"maps"
	"slices"
)

// builtin maps each built-in type to how it describes itself. Nothing is reflected upon before it is asked for.
var builtin = map[string]func() Type{
	"agent":       describeAgent,
	"code":        describeCode,
	"copy-file":   describeCopyFile,
	"delete-file": describeDeleteFile,
	"echo":        describeEcho,
	"http":        describeHTTP,
	"jq":          describeJQ,
	"llm":         describeLLM,
	"move-file":   describeMoveFile,
	"read-file":   describeReadFile,
	"shell":       describeShell,
	"workflow":    describeWorkflow,
	"write-file":  describeWriteFile,
}

// Builtin finds a built-in node type.
func Builtin(name string) (Type, bool) {
	f, ok := builtin[name]
	if !ok {
		return Type{}, false
	}
	return f(), true
}

// BuiltinNames lists the built-in node types, sorted.
func BuiltinNames() []string { return slices.Sorted(maps.Keys(builtin)) }
