package nodetype

import (
	"maps"
	"slices"
)

// builtin holds the functions that describe the built-in types. Each uses reflection, so only those that are needed are called.
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

// internal holds the functions that describe the types of nodes that only the suite itself writes. They are built-in types that no list shows.
var internal = map[string]func() Type{
	SourceWorkflowName: describeSourceWorkflow,
}

// Builtin returns the named built-in node type, if it exists.
func Builtin(name string) (Type, bool) {
	f, ok := builtin[name]
	if !ok {
		f, ok = internal[name]
	}
	if !ok {
		return Type{}, false
	}
	return f(), true
}

// IsBuiltin reports whether a built-in node type has the name.
func IsBuiltin(name []byte) bool {
	return builtin[string(name)] != nil || internal[string(name)] != nil
}

// BuiltinNames returns the names of the built-in node types, sorted, without those that only the suite itself uses.
func BuiltinNames() []string { return slices.Sorted(maps.Keys(builtin)) }
