package suitetools

import (
	"encoding/json"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/suitetools/suite"
)

// maxArgument is the most bytes of an argument in the command line of a command. Linux accepts 128 KiB.
const maxArgument = 100_000

// checkPassable returns why the arguments of a call cannot be passed to a command, or nil. Those that commands read from standard
// input can have any content.
func checkPassable(tool string, arguments json.RawMessage) (f *fault.Fault) {
	gjson.ParseBytes(arguments).ForEach(func(name, value gjson.Result) bool {
		if !slices.Contains([]string{"arguments", "content", "inputs"}, name.Str) {
			f = checkValue(tool, name.Str, value)
		}
		return f == nil
	})
	return f
}

// checkValue checks an argument, and if it is an object, as the answers of execute are, the names and values in that.
func checkValue(tool, path string, value gjson.Result) (f *fault.Fault) {
	if !value.IsObject() {
		return checkText(tool, path, value.String())
	}
	value.ForEach(func(name, item gjson.Result) bool {
		if f = checkText(tool, path, name.Str); f == nil {
			f = checkValue(tool, path+"."+fault.Truncate(name.Str, maxEcho), item)
		}
		return f == nil
	})
	return f
}

func checkText(tool, path, text string) *fault.Fault {
	if f := suite.CheckNUL(tool, path, text); f != nil {
		return f
	}
	if len(text) > maxArgument {
		f := fault.New(fault.TooLarge, "The argument %s of %s has %d bytes, more than the limit of %d", path, tool, len(text), maxArgument)
		f.Path = path
		return f
	}
	return nil
}
