package share

import (
	"context"
	"regexp"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/process"
	"github.com/pflow-suite/pflow/pkg/process/environ"
	"github.com/pflow-suite/pflow/pkg/share/sealed"
)

// The variables of this program and of a server that calls it. No run has them.
const (
	masterVariable = "ENCRYPTION_KEY"
	cronVariable   = "CRON_SECRET"
)

// SetKey stores an API key of the owner, encrypted under ENCRYPTION_KEY.
func (s *Service) SetKey(ctx context.Context, name, value string) error {
	if err := CheckKeyName(name); err != nil {
		return err
	}
	master, err := s.Master()
	if err != nil {
		return err
	}
	if value == "" || strings.ContainsRune(value, 0) {
		return fault.New(fault.Validation, "The value of %s must be text without NUL bytes, and must not be empty", name)
	}
	stored, err := s.Store.Keys(ctx)
	if err != nil {
		return err
	}
	for _, key := range stored {
		if _, err := master.Open(key.Name, key.Sealed); err != nil && key.Name != name {
			return fault.New(fault.Validation, "The stored key %s was encrypted with another %s, and all keys need the same one", key.Name, masterVariable).
				Suggest("Use that %s, or remove the key first", masterVariable).Then(fault.Command("Remove the key", "pflow-share keys remove %s", key.Name))
		}
	}
	return s.Store.SetKey(ctx, name, master.Seal(name, []byte(value)))
}

// Master returns the master key of the environment. The fault repeats nothing of an invalid one.
func (s *Service) Master() (*sealed.Key, error) {
	text, set := process.LookupEnv(s.Env, masterVariable)
	master, err := sealed.ParseKey(text)
	if err == nil {
		return master, nil
	}
	what := "is not set"
	if set {
		what = "is not 64 hexadecimal digits"
	}
	return nil, fault.New(fault.Validation, "The environment variable %s %s, and keys are encrypted with it", masterVariable, what).
		Suggest("Make one with: openssl rand -hex 32")
}

// CheckKeyName returns an error unless a key can be stored under a name. Runs redact the values of variables with such names.
func CheckKeyName(name string) error {
	switch {
	case !regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`).MatchString(name):
		return fault.New(fault.Usage, "The name of a key must be that of an environment variable: letters, digits and _, up to 128")
	case name == masterVariable || name == cronVariable || strings.HasPrefix(name, "PFLOW_"):
		return fault.New(fault.Usage, "The variable %s belongs to the suite itself, so no run can have it as a key", name)
	case !redact.SecretName(name):
		return fault.New(fault.Usage, "The name %s does not say that its value is a secret, so runs would record the value", name).
			Suggest("Use a name that ends in API_KEY, ACCESS_KEY, PRIVATE_KEY, TOKEN, SECRET, PASSWORD or CREDENTIALS")
	}
	return nil
}

// environment returns the environment of the owner's run: what passes to shared runs of that of this program, and the stored keys. The keys
// are nowhere else in plain text.
func (s *Service) environment(ctx context.Context) ([]string, error) {
	env, _ := environ.Passed(process.Environment(s.Env))
	keys, err := s.Store.Keys(ctx)
	if err != nil {
		return nil, Unavailable(err)
	}
	if len(keys) == 0 {
		return env, nil
	}
	text, _ := process.LookupEnv(s.Env, masterVariable)
	master, err := sealed.ParseKey(text)
	if err != nil {
		return nil, fault.New(fault.Internal, "Server configuration error: encryption key not set").
			Suggest("The owner starts the server with the %s under which the keys are stored", masterVariable)
	}
	for _, key := range keys {
		value, err := master.Open(key.Name, key.Sealed)
		if err != nil {
			return nil, fault.New(fault.Internal, "Server configuration error: the stored keys are encrypted with another encryption key").
				Suggest("The owner starts the server with the %s under which the keys are stored", masterVariable)
		}
		env = append(env, key.Name+"="+string(value))
	}
	return env, nil
}
