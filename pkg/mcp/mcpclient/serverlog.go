package mcpclient

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// logLevel is the member of a request's _meta that asks for log messages, from 2026-07-28 on.
const logLevel = "io.modelcontextprotocol/logLevel"

// setLevelLimit bounds the request that sets the level of a server's log.
const setLevelLimit = time.Second

// level is the least level of the log messages that a server is asked for.
func (a *attempt) level() string {
	if a.log.Enabled(context.Background(), slog.LevelDebug) {
		return "debug"
	}
	return "info"
}

// wantsLog reports whether the log messages of the call are shown or stored.
func (a *attempt) wantsLog() bool {
	return a.Log != nil || a.log.Enabled(context.Background(), slog.LevelInfo)
}

// setLevel asks the server for its log, once in a session, if it offers one. From 2026-07-28 on each call asks for it instead.
func (a *attempt) setLevel(ctx context.Context) {
	if a.stateless() || !gjson.GetBytes(a.handshake, "capabilities.logging").Exists() {
		return
	}
	a.levelSet.Do(func() {
		ctx, cancel := context.WithTimeout(ctx, setLevelLimit)
		defer cancel()
		if err := a.client.SetLoggingLevel(ctx, &mcp.SetLoggingLevelParams{Level: mcp.LoggingLevel(a.level())}); err != nil { //nolint:staticcheck // servers of today use it
			a.log.Debug("an MCP server did not take the level of its log", "server", a.name, "error", err)
		}
	})
}

// maxLogMessage is the most bytes of a log message. The rest is cut.
const maxLogMessage = 64 << 10

// logged passes a log message of the server on to the call that it came with, or to all that go on if that is unknown.
func (s inbox) logged(a *attempt, params json.RawMessage) {
	p := gjson.ParseBytes(params)
	text := p.Get("data").String() // of a string its text, else the JSON
	if logger := p.Get("logger").String(); logger != "" {
		text = logger + ": " + text
	}
	level := p.Get("level").String()
	text = strings.ToValidUTF8(fault.Truncate(text, maxLogMessage), "?")
	attempts := []*attempt{a}
	if a == nil {
		attempts = s.active.all()
	}
	for _, a := range attempts {
		a.write(fmt.Sprintf("[%s] %s\n", level, strings.TrimRight(text, "\n")))
	}
	shown := slog.LevelInfo // what a server warns of is no warning of this program
	if level == "debug" {
		shown = slog.LevelDebug
	}
	s.log.Log(context.Background(), shown, "MCP server logs", "server", s.name, "level", level, "message", text)
}

func (a *attempt) write(line string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.over && a.Log != nil {
		_, _ = a.Log.Write([]byte(line))
	}
}
