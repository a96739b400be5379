package share

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/share/store"
)

// The limits of the inputs of a run. Characters are code points.
const (
	maxInputs   = 50
	maxKey      = 256
	maxValue    = 100_000
	shownOfKey  = 50
	tokenLength = 12
	jobLength   = len(store.JobPrefix) + 16
)

// Request is what a run is asked for with.
type Request struct {
	Token  string
	Inputs map[string]string
}

// ParseRequest reads the arguments of the tool run_flow, {"token":TEXT,"inputs":{KEY:TEXT}}. Its faults have the texts that clients of the
// tool know.
func ParseRequest(raw json.RawMessage) (Request, error) {
	token, err := ParseToken(raw)
	if err != nil {
		return Request{}, err
	}
	r := Request{Token: token, Inputs: map[string]string{}}
	inputs := gjson.GetBytes(raw, "inputs")
	if !inputs.Exists() || inputs.Type == gjson.Null {
		return r, nil
	}
	if !inputs.IsObject() {
		return Request{}, invalid("inputs", "Inputs must be an object")
	}
	var bad error
	n := 0
	inputs.ForEach(func(key, value gjson.Result) bool {
		if n++; n > maxInputs {
			bad = invalid("inputs", "Too many inputs. Maximum %d allowed.", maxInputs)
			return false
		}
		name := key.String()
		_, twice := r.Inputs[name]
		switch {
		case twice:
			bad = repeated("inputs", name)
		case utf8.RuneCountInString(name) > maxKey:
			bad = invalid("inputs", "Input key too long: \"%s...\" (max %d chars)", string([]rune(name)[:shownOfKey]), maxKey)
		case value.Type != gjson.String:
			bad = invalid(rawjson.JoinPath("inputs", name), "Input value for \"%s\" must be a string", name)
		case utf8.RuneCountInString(value.Str) > maxValue:
			bad = invalid(rawjson.JoinPath("inputs", name), "Input value for \"%s\" exceeds maximum length of %d characters", name, maxValue)
		}
		r.Inputs[name] = value.Str
		return bad == nil
	})
	return r, bad
}

// ParseToken reads the member token of an object, such as the arguments of the tool get_flow_info.
func ParseToken(raw json.RawMessage) (string, error) {
	if err := checkNames(raw); err != nil {
		return "", err
	}
	token := gjson.GetBytes(raw, "token")
	if token.Type != gjson.String {
		return "", invalid("token", "Token must be a string")
	}
	return token.Str, CheckToken(token.Str)
}

// ParseJob reads the arguments of the tool get_run_status, {"job_id":TEXT,"token":TEXT}. The token is nil if it is not given.
func ParseJob(raw json.RawMessage) (id string, token *string, err error) {
	if err := checkNames(raw); err != nil {
		return "", nil, err
	}
	job, given := gjson.GetBytes(raw, "job_id"), gjson.GetBytes(raw, "token")
	if job.Type != gjson.String {
		return "", nil, invalid("job_id", "Job ID must be a string")
	}
	if err := CheckJob(job.Str); err != nil || !given.Exists() || given.Type == gjson.Null {
		return job.Str, nil, err
	}
	text, err := ParseToken(raw)
	return job.Str, &text, err
}

// checkNames returns an error if two members of an object have one name, because programs differ in which of them they read.
func checkNames(object json.RawMessage) (err error) {
	seen := map[string]bool{}
	gjson.ParseBytes(object).ForEach(func(key, _ gjson.Result) bool {
		if seen[key.Str] {
			err = repeated("", key.Str)
		}
		seen[key.Str] = true
		return err == nil
	})
	return err
}

// repeated returns the fault of a name that an object has twice.
func repeated(path, name string) *fault.Fault {
	return invalid(path, "The name %q stands twice in one object", fault.Truncate(name, maxKey))
}

// CheckToken returns an error unless a text has the form of a token. The message does not repeat it.
func CheckToken(token string) error {
	if len(token) != tokenLength || !alphanumeric(token) {
		return invalid("token", "Invalid token format. Expected %d alphanumeric characters.", tokenLength)
	}
	return nil
}

// CheckJob returns an error unless a text has the form of a job's id.
func CheckJob(id string) error {
	rest, ok := strings.CutPrefix(id, store.JobPrefix)
	if !ok || len(id) != jobLength || !alphanumeric(rest) {
		return invalid("job_id", "Invalid job ID format").Detail("http_status", 400)
	}
	return nil
}

func alphanumeric(text string) bool {
	return strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == ""
}

func invalid(path, format string, args ...any) *fault.Fault {
	f := fault.New(fault.Validation, format, args...)
	f.Path = path
	return f
}
