package agent

import (
	"net/url"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// claudeSettings returns the settings of a call of claude, or "" (code.claude.com/docs/en/settings): the sandbox, which is enabled
// unless it says otherwise; what people have granted; and the hook that makes claude's questions wait for a person.
func claudeSettings(j *job, asks bool) (string, error) {
	settings := map[string]any{}
	if sandbox := j.sandbox.Settings; len(sandbox) > 0 {
		if !gjson.GetBytes(sandbox, "enabled").Exists() {
			var err error
			if sandbox, err = sjson.SetBytes(sandbox, "enabled", true); err != nil {
				return "", err
			}
		}
		settings["sandbox"] = sandbox
	}
	if len(j.granted) > 0 {
		settings["permissions"] = map[string]any{"allow": j.granted}
	}
	if asks {
		command, err := askHook(j)
		if err != nil {
			return "", err
		}
		hook := map[string]any{"matcher": askTool, "hooks": []any{map[string]any{"type": "command", "command": command}}}
		settings["hooks"] = map[string]any{"PreToolUse": []any{hook}}
	}
	if len(settings) == 0 {
		return "", nil
	}
	raw, err := rawjson.Marshal(settings)
	return string(raw), err
}

// askHook returns the command that claude runs before it uses askTool: the first time it answers with the reply, if there is one,
// else it defers the use, with which claude ends (code.claude.com/docs/en/hooks, PreToolUse).
func askHook(j *job) (string, error) {
	decision := func(fields map[string]any) (string, error) {
		fields["hookEventName"] = "PreToolUse"
		raw, err := rawjson.Marshal(map[string]any{"hookSpecificOutput": fields})
		return string(raw), err
	}
	deferral, err := decision(map[string]any{"permissionDecision": "defer"})
	if err != nil {
		return "", err
	}
	later, err := j.file("defer.json", deferral)
	if err != nil || j.reply == nil {
		return "cat " + shellWord(later), err
	}
	answer, err := decision(map[string]any{"permissionDecision": "allow", "updatedInput": j.reply})
	if err != nil {
		return "", err
	}
	first, err := j.file("answer.json", answer)
	return "mv " + shellWord(first) + " " + shellWord(first+".given") + " 2>/dev/null && cat " + shellWord(first+".given") + " || cat " + shellWord(later), err
}

func shellWord(path string) string { return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'" }

// grants returns the permission rules that allow what claude was denied (code.claude.com/docs/en/permissions): as little as a rule
// can say, and the whole tool where a rule would mean something else.
func (claude) grants(_ *job, asks []ask) []string {
	var rules []string
	for _, a := range asks {
		if rule := claudeRule(a); !slices.Contains(rules, rule) {
			rules = append(rules, rule)
		}
	}
	return rules
}

func claudeRule(a ask) string {
	input := gjson.ParseBytes(a.Input)
	switch path := input.Get("file_path").Str; a.Tool {
	case "Bash":
		if command := input.Get("command").Str; command != "" && !strings.ContainsAny(command, "*\n") && !strings.HasSuffix(command, ":") {
			return "Bash(" + command + ")"
		}
	case "Write", "Edit", "MultiEdit":
		if strings.HasPrefix(path, "/") && !strings.ContainsAny(path, "*?[]{}!\\()") {
			return "Edit(/" + path + ")" // a second slash makes it an absolute path
		}
	case "Read":
		if strings.HasPrefix(path, "/") && !strings.ContainsAny(path, "*?[]{}!\\()") {
			return "Read(/" + path + ")"
		}
	case "WebFetch":
		if u, err := url.Parse(input.Get("url").Str); err == nil && u.Hostname() != "" {
			return "WebFetch(domain:" + u.Hostname() + ")"
		}
	}
	return a.Tool
}
