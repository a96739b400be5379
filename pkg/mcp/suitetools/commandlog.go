package suitetools

import (
	"context"
	"log/slog"

	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/home/settings"
	"github.com/pflow-suite/pflow/pkg/process"
)

// logStart logs the command line of a program, without the secrets of the environment and the settings, and without credentials. A
// client may have put them into any argument.
func (s *Suite) logStart(ctx context.Context, program string, args []string) {
	if !s.Log.Enabled(ctx, slog.LevelDebug) {
		return
	}
	s.secretsOnce.Do(func() { s.secrets = redact.For(s.settingsEnv(), s.Env) })
	s.Log.DebugContext(ctx, "starting", "program", program, "args", s.secrets.Texts(args))
}

// settingsEnv returns the values of the settings, or nil if they cannot be read: the commands report why.
func (s *Suite) settingsEnv() map[string]string {
	h, err := home.Open(process.Getenv(s.Env, "PFLOW_HOME"), process.Getenv(s.Env, "HOME"))
	if err != nil {
		return nil
	}
	set, err := settings.Load(h)
	if err != nil {
		return nil
	}
	return set.Env
}
