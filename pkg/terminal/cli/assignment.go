package cli

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home/input"
)

// Assignment is one KEY=VALUE of a command line: text, which is converted to the declared type, or a JSON value.
type Assignment struct {
	Key  string
	Text string
	// JSON is set for KEY:=JSON and nil for text.
	JSON json.RawMessage
}

// Assignments parses KEY=VALUE (text), KEY=@FILE (the text of a file; KEY=@- is standard input) and KEY:=JSON. A value that
// begins with @ is written @@.
func (a *App) Assignments(args []string) ([]Assignment, error) {
	list := make([]Assignment, 0, len(args))
	for _, arg := range args {
		key, value, ok := strings.Cut(arg, "=")
		if !ok || key == "" || key == ":" {
			return nil, fault.New(fault.Usage, "%q is not KEY=VALUE", arg).Suggest("Write KEY=VALUE for text, KEY:=JSON for a JSON value, KEY=@FILE for a file's text")
		}
		one := Assignment{Key: key, Text: value}
		if name, isJSON := strings.CutSuffix(key, ":"); isJSON {
			if !json.Valid([]byte(value)) {
				return nil, fault.New(fault.Usage, "The value of %s:= is not valid JSON", name).Suggest("Write JSON, such as %s:='[\"a\", 1]', or %[1]s=VALUE for text", name)
			}
			one = Assignment{Key: name, JSON: json.RawMessage(value)}
			if err := input.CheckKeys("The value of "+name+":=", one.JSON); err != nil {
				return nil, err
			}
		} else if file, isFile := strings.CutPrefix(value, "@"); isFile && !strings.HasPrefix(file, "@") {
			b, err := a.ReadArgument(file, input.MaxDocument)
			if err != nil {
				return nil, err
			}
			one.Text = string(b)
		} else if isFile {
			one.Text = file
		}
		if !utf8.ValidString(one.Text) || !utf8.Valid(one.JSON) {
			return nil, fault.New(fault.Usage, "The value of %s is not UTF-8 text", one.Key).Suggest("Give bytes as base64, or the path of their file")
		}
		if slices.ContainsFunc(list, func(a Assignment) bool { return a.Key == one.Key }) {
			return nil, fault.New(fault.Usage, "%s is given twice", one.Key)
		}
		list = append(list, one)
	}
	return list, nil
}

// ReadObject reads the JSON object on standard input that the argument - stands for.
func (a *App) ReadObject() (json.RawMessage, error) {
	data, err := a.ReadArgument("-", input.MaxDocument)
	if err != nil {
		return nil, err
	}
	object := bytes.TrimSpace(data)
	if !json.Valid(object) || object[0] != '{' {
		return nil, fault.New(fault.Usage, "Standard input is not one JSON object")
	}
	return object, input.CheckKeys("Standard input", object)
}

// Duration parses 30s, 5m, 1h30m, 7d, or a number of seconds. The empty text is 0, which means no limit.
func Duration(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if days, ok := strings.CutSuffix(text, "d"); ok {
		var n float64
		n, err = strconv.ParseFloat(days, 64)
		d = time.Duration(min(n, 1e5) * float64(24*time.Hour))
	}
	if s, numErr := strconv.ParseFloat(text, 64); numErr == nil && s < 1e9 {
		d, err = time.Duration(s*float64(time.Second)), nil
	}
	if err != nil || d <= 0 {
		return 0, fault.New(fault.Usage, "%q is not a duration", text).Suggest("Write 30s, 5m, 1h30m, 7d, or a number of seconds")
	}
	return d, nil
}
