package suite

import (
	"context"
	"log/slog"
	"regexp"
	"strings"
	"sync"

	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/home/settings"
)

// logCommand logs the exact command line of a command for debugging, as a shell would take it, without secrets. Inputs are not
// in it: commands read them from standard input.
func (s *Programs) logCommand(ctx context.Context, path string, args []string) {
	if !s.Log.Enabled(ctx, slog.LevelDebug) {
		return
	}
	known, err := settings.Load(s.Home) // as it is now, since it may change while the server runs
	if err != nil {
		s.Log.Debug("starting", "program", path, "args", "not shown, because the secrets in the settings are not known", "error", err)
		return
	}
	secrets := redact.For(known.Env, s.Env)
	words := []string{ShellWord(path)}
	for _, arg := range args {
		words = append(words, ShellWord(secrets.Text(withoutNamed(arg))))
	}
	s.Log.Debug("starting", "command", strings.Join(words, " "))
}

// withoutNamed returns a text with a mark in place of each value that is a secret by its name, as in api_key=VALUE.
func withoutNamed(text string) string {
	var clean strings.Builder
	for {
		at := assignment().FindStringSubmatchIndex(text)
		if at == nil {
			return clean.String() + text
		}
		name, value := text[at[2]:at[3]], at[4]
		clean.WriteString(text[:value])
		if redact.SecretName(name) {
			clean.WriteString(redact.Mark)
			value = at[5]
		}
		text = text[value:]
	}
}

// assignment matches NAME=VALUE and NAME: VALUE, also with quotes around the name or the value.
var assignment = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`([A-Za-z][A-Za-z0-9_.-]*)["']?\s*[=:]\s*("[^"]*"?|'[^']*'?|\S+)`)
})

// ShellWord returns a text as one word of a POSIX shell.
func ShellWord(text string) string {
	if text != "" && strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-=./,:@%+") == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
