package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/mattn/go-isatty"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/home/input"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpclient"
	"github.com/pflow-suite/pflow/pkg/mcp/oauth"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type loginCommand struct {
	Name         string `arg:"" help:"The server." complete:"server"`
	Scope        string `placeholder:"'SCOPE…'" help:"The scopes to ask for, separated by blanks, in place of those that the server names."`
	ClientID     string `name:"client-id" placeholder:"ID" help:"The id of a client that you have registered with the authorization server. By default a client is registered."`
	ClientSecret string `placeholder:"-" help:"- reads the secret of that client from standard input."`
	Port         int    `placeholder:"N" help:"The port of http://127.0.0.1:N/callback, to which the browser returns. By default any free one."`
	NoBrowser    bool   `help:"Open no browser."`
	Timeout      string `default:"5m" placeholder:"DURATION" help:"How long to wait for the browser."`

	// expired is set once Timeout has passed.
	expired bool
}

// Help returns the longer text of --help.
func (loginCommand) Help() string {
	return `For servers at a URL that answer 401 and offer OAuth. Opens a browser, in which you log in and agree, and waits until it returns to
this machine. The URL is also printed on standard error. If the browser runs on another machine, it ends at a page that it
cannot reach: paste the URL of that page at the terminal, or open it on this machine, with curl for example.

The tokens are stored in the home, for you alone, and renewed as long as the server permits. They are sent to this URL of the
server only. Answers {"server":…,"issuer":…,"scopes":[…],"renewable":true,"expires_at":TIME}.`
}

// loginOutput is the output of login.
type loginOutput struct {
	Server string   `json:"server"`
	Issuer string   `json:"issuer"`
	Scopes []string `json:"scopes"`
	// Renewable is true if the tokens are renewed after ExpiresAt, which is zero if it is not known.
	Renewable bool      `json:"renewable"`
	ExpiresAt time.Time `json:"expires_at,omitzero"`
}

// Run logs in to the server.
func (c *loginCommand) Run(app *cli.App) error {
	h, err := app.Home()
	if err != nil {
		return err
	}
	r, err := newResolver(app, h)
	if err != nil {
		return err
	}
	login, err := c.login(app, h, &r)
	if err != nil {
		if app.Context.Err() != nil {
			return err
		}
		f := r.Redactor.Fault(fault.From(err))
		if c.expired {
			app.Report(f)
			return cli.Status(124)
		}
		return f
	}
	out := loginOutput{
		Server: c.Name, Issuer: login.Issuer, Scopes: append([]string{}, login.Scopes...), Renewable: login.RefreshToken != "", ExpiresAt: login.Expires,
	}
	return app.Document(out, func(w io.Writer) {
		_, _ = fmt.Fprintf(w, "logged in to %s\n", out.Server)
		if !out.Renewable && !out.ExpiresAt.IsZero() {
			_, _ = fmt.Fprintf(w, "until %s\n", out.ExpiresAt.Format(time.DateTime))
		}
	})
}

func (c *loginCommand) login(app *cli.App, h *home.Home, r *mcpclient.Resolver) (*oauth.Login, error) {
	spec, err := c.spec(h, r)
	if err != nil {
		return nil, err
	}
	o, err := c.options(app)
	if err != nil {
		return nil, err
	}
	limit, err := cli.Duration(c.Timeout)
	if err != nil {
		return nil, err
	}
	r.Redactor.Add("client secret", o.ClientSecret)
	o.Previous, _ = oauth.Load(h, c.Name, spec.Server.URL) // one that cannot be read is replaced
	ctx := app.Context
	if limit > 0 {
		late := fault.New(fault.Timeout, "The login to server %s was not completed within %s", c.Name, limit).Suggest("--timeout sets the time")
		limited, cancel := context.WithTimeoutCause(ctx, limit, late)
		defer cancel()
		defer func() { c.expired = errors.Is(context.Cause(limited), late) }()
		ctx = limited
	}
	authority, err := oauth.Discover(ctx, spec.Server.URL, spec.Server.Headers)
	if err != nil {
		return nil, err
	}
	if o.Port == 0 && o.ClientID == "" && o.Previous != nil { // the client of the previous login is used again
		o.Port = o.Previous.Client.Port
	}
	listener, err := oauth.Listen(o.Port)
	if err != nil {
		return nil, err
	}
	defer listener.Close()
	o.Redirect = listener.Redirect()
	attempt, err := authority.Begin(ctx, o)
	if err != nil {
		return nil, err
	}
	c.invite(app, attempt)
	answer, err := listener.Wait(ctx, attempt, c.pasted(app), func(reason string) { app.Warn("%s", reason) })
	if err != nil {
		return nil, err
	}
	login, err := attempt.Finish(ctx, answer)
	if err != nil {
		return nil, err
	}
	// The tokens are there, so a signal no longer matters.
	return login, oauth.Store(context.WithoutCancel(ctx), h, c.Name, login)
}

// spec returns how to reach the server, if it is one to which one can log in.
func (c *loginCommand) spec(h *home.Home, r *mcpclient.Resolver) (mcpclient.Spec, error) {
	servers, err := mcpclient.LoadServers(h)
	if err != nil {
		return mcpclient.Spec{}, err
	}
	server, err := servers.Get(c.Name)
	if err != nil {
		return mcpclient.Spec{}, err
	}
	if err := server.Check(c.Name); err != nil {
		return mcpclient.Spec{}, err
	}
	spec := r.Spec(c.Name, server)
	switch {
	case server.Transport() != mcpclient.HTTP:
		return spec, fault.New(fault.Validation, "Server %s is started by a command, so it has no login", c.Name).
			Suggest("Its documentation says what it needs").Then(fault.Command("Put variables into its env", "pflow-sync add NAME --env 'TOKEN=${TOKEN}' -- COMMAND"))
	case spec.Login == nil:
		return spec, fault.New(fault.Validation, "Server %s has an Authorization header in its entry, which takes the place of a login", c.Name).
			Suggest("Remove the header from the entry to log in")
	}
	return spec, nil
}

// options returns what the flags say, and reads the secret from standard input.
func (c *loginCommand) options(app *cli.App) (oauth.Options, error) {
	o := oauth.Options{Port: c.Port, Scopes: strings.Fields(c.Scope), ClientID: c.ClientID}
	switch {
	case c.Port < 0 || c.Port > 65535:
		return o, fault.New(fault.Usage, "--port must be from 0 to 65535, got %d", c.Port)
	case c.ClientSecret == "":
		return o, nil
	case c.ClientSecret != "-":
		return o, fault.New(fault.Usage, "--client-secret must be -, because others can read a program's arguments").
			Suggest("Give the secret on standard input")
	case c.ClientID == "":
		return o, fault.New(fault.Usage, "--client-secret needs --client-id")
	}
	secret, err := app.ReadArgument("-", 64<<10)
	if err != nil {
		return o, err
	}
	if o.ClientSecret = strings.TrimSpace(string(secret)); o.ClientSecret == "" {
		return o, fault.New(fault.Usage, "There is no client secret on standard input")
	}
	return o, nil
}

// invite opens the browser, and prints the URL for a person.
func (c *loginCommand) invite(app *cli.App, attempt *oauth.Attempt) {
	opened := !c.NoBrowser && openBrowser(app.Env, attempt.URL)
	if opened && app.Quiet {
		return
	}
	what := "open this URL in a browser"
	if opened {
		what = "your browser was opened; if it does not show the page, open this URL"
	}
	_, _ = fmt.Fprintf(app.Messages(), "%s: to log in to %s, %s:\n%s\n", app.Name, c.Name, what, attempt.URL)
	if c.asks(app) {
		_, _ = fmt.Fprintf(app.Messages(), "%s: if the browser runs on another machine, paste the URL at which it ends here\n", app.Name)
	}
}

// asks reports whether a person can paste the answer.
func (c *loginCommand) asks(app *cli.App) bool {
	return c.ClientSecret == "" && isatty.IsTerminal(app.Stdin.Fd())
}

// pasted returns the lines that a person types at the terminal, or nil.
func (c *loginCommand) pasted(app *cli.App) <-chan string {
	if !c.asks(app) {
		return nil
	}
	lines := make(chan string)
	go func() {
		defer close(lines)
		in := bufio.NewScanner(input.Reader(app.Context, app.Stdin))
		for in.Scan() {
			if line := strings.TrimSpace(in.Text()); line != "" {
				lines <- line
			}
		}
	}()
	return lines
}
