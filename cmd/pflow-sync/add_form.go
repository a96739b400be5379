package main

import (
	"errors"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home/input"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpclient"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

const (
	byCommandForm = "pflow-sync add NAME -- COMMAND [ARG…]"
	byURLForm     = "pflow-sync add NAME URL"
)

// servers returns the servers that the arguments configure, and notes about their names.
func (c *addCommand) servers(app *cli.App) (mcpclient.Servers, []string, error) {
	at := c.URL
	if at == "" && len(c.Command) > 0 && mcpclient.IsURL(c.Command[0]) {
		at, c.Command = c.Command[0], c.Command[1:]
	}
	switch {
	case at != "" && len(c.Command) > 0:
		return nil, nil, fault.New(fault.Usage, "A server has a URL or a command, not both: %q follows the URL", c.Command[0]).Suggest("%s", byURLForm)
	case at != "":
		return c.byURL(at)
	case len(c.Command) > 0:
		return c.byCommand()
	case mcpclient.IsURL(c.Source):
		return nil, nil, fault.New(fault.Usage, "A server at a URL needs a name").Suggest("%s", byURLForm)
	case len(c.Header) > 0:
		return nil, nil, fault.New(fault.Usage, "--header needs a URL").Suggest("%s", byURLForm)
	case len(c.Env) > 0 || c.InheritEnv:
		return nil, nil, fault.New(fault.Usage, "--env and --inherit-env need a command").Suggest("%s", byCommandForm)
	case c.Transport != "":
		return nil, nil, fault.New(fault.Usage, "--transport needs a command or a URL").Suggest("%s", byCommandForm).Suggest("%s", byURLForm)
	}
	data, err := app.ReadArgument(c.Source, input.MaxDocument)
	if f, ok := errors.AsType[*fault.Fault](err); ok && f.Type == fault.NotFound {
		return nil, nil, f.Suggest("To configure a server by its command: %s", byCommandForm).
			Suggest("To configure a server by its URL: %s", byURLForm)
	}
	if err != nil {
		return nil, nil, err
	}
	return mcpclient.ParseServers(data)
}

func (c *addCommand) byCommand() (mcpclient.Servers, []string, error) {
	if len(c.Header) > 0 {
		return nil, nil, fault.New(fault.Usage, "--header is for a server with a URL, but %q is a command", c.Command[0]).Suggest("%s", byURLForm)
	}
	s := mcpclient.Server{Command: c.Command[0], Args: c.Command[1:], Env: map[string]string{}, InheritEnv: c.InheritEnv}
	for _, pair := range c.Env {
		k, v, ok := strings.Cut(pair, "=")
		if !ok || k == "" { // not shown, because it may be a secret
			return nil, nil, fault.New(fault.Usage, "--env takes NAME=VALUE")
		}
		s.Env[k] = v
	}
	return c.named(s, mcpclient.Stdio)
}

func (c *addCommand) byURL(at string) (mcpclient.Servers, []string, error) {
	if len(c.Env) > 0 || c.InheritEnv {
		return nil, nil, fault.New(fault.Usage, "--env and --inherit-env are for a server with a command, and this one has a URL").
			Suggest("A server at a URL gets headers: %s", byURLForm)
	}
	s := mcpclient.Server{URL: at}
	for _, header := range c.Header {
		name, value, ok := strings.Cut(header, ":")
		value = strings.TrimSpace(value)
		if !ok || !isToken(name) || strings.ContainsAny(value, "\r\n\x00") { // not shown, because it may be a secret
			return nil, nil, fault.New(fault.Usage, "--header takes 'NAME: VALUE', the name and the value of an HTTP header").
				Suggest("Quote it for the shell: --header 'Authorization: Bearer ${TOKEN}'")
		}
		if s.Headers == nil {
			s.Headers = map[string]string{}
		}
		s.Headers[name] = value
	}
	return c.named(s, mcpclient.HTTP)
}

// isToken reports whether a text can be the name of an HTTP header (RFC 9110, section 5.6.2).
func isToken(name string) bool {
	const symbols = "!#$%&'*+-.^_`|~"
	return name != "" && strings.IndexFunc(name, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && !strings.ContainsRune(symbols, r)
	}) < 0
}

// named checks a server whose transport must be the given one, and returns it under its name.
func (c *addCommand) named(s mcpclient.Server, transport string) (mcpclient.Servers, []string, error) {
	name, notes, err := mcpclient.CleanName(c.Source)
	if err != nil {
		return nil, nil, err
	}
	if s.Type = transport; c.Transport != "" {
		s.Type = c.Transport
	}
	if err := s.Check(name); err != nil {
		return nil, nil, err
	}
	if s.Transport() != transport {
		return nil, nil, fault.New(fault.Usage, "--transport %s does not fit: a server with a URL has the transport http, one with a command has stdio", c.Transport)
	}
	s.Type = transport
	return mcpclient.Servers{name: s}, notes, nil
}
