package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pflow-suite/pflow/pkg/mcp/mcpclient"
	"github.com/pflow-suite/pflow/pkg/terminal/cells"
)

// writeShown prints a server for people: a line for each fact, and a table of the tools.
func writeShown(w io.Writer, s shown, columns int) {
	var facts, tools cells.Table
	line := func(name, format string, args ...any) {
		if text := fmt.Sprintf(format, args...); text != "" {
			facts.Row(name, text)
		}
	}
	state := s.Transport
	if s.Disabled {
		state += ", disabled"
	}
	if s.Login != "" {
		state += ", login " + s.Login
	}
	line(s.Server, "%s", state)
	line("file", "%s", s.File)
	line("command", "%s", strings.Join(append([]string{s.Command}, s.Args...), " "))
	line("folder", "%s", s.Cwd)
	line("url", "%s", s.URL)
	for what, values := range map[string]map[string]string{"env": s.Env, "header": s.Headers} { // an entry has one of the two
		for _, name := range slices.Sorted(maps.Keys(values)) {
			line(what, "%s: %s", name, values[name])
		}
	}
	if s.InheritEnv {
		line("env", "and the whole environment")
	}
	for _, v := range s.Variables {
		where := "not set"
		if v.Set != "" {
			where = "set by the " + v.Set
		}
		line("variable", "%s is %s", v.Name, where)
	}
	limits := fmt.Sprintf("%vs to start, %vs of silence while it lists its tools, %vs for a call", s.Limits.Start, s.Limits.List, s.Limits.Call)
	if s.Limits.MaxMemoryMB > 0 {
		limits += fmt.Sprintf(", %d MB of memory", s.Limits.MaxMemoryMB)
	}
	line("limits", "%s", limits)
	if s.MeasuredAt != nil {
		line("measured", "%d MB of memory by doctor, %s", s.MemoryMB, moment(s.MeasuredAt))
		line("is", "%s", strings.TrimSpace(s.Implementation+", MCP "+s.Protocol))
	}
	line("synced", "%s", moment(s.SyncedAt))
	line("changed", "%s", lastChange(s.ChangedAt, s.Changes))
	if s.Error != nil {
		line("error", "%s", s.Error.Message)
	}
	_ = facts.WriteWhole(w, columns)
	for _, t := range s.Tools {
		tools.Row(t.NodeType, t.Description)
	}
	_ = tools.Write(w, columns)
	if s.Omitted > 0 {
		_, _ = fmt.Fprintf(w, "and %d more tools\n", s.Omitted)
	}
}

func moment(at *time.Time) string {
	if at == nil {
		return "never"
	}
	return at.Local().Format("2006-01-02 15:04:05")
}

// lastChange says what the last sync that changed anything has changed.
func lastChange(at *time.Time, c *mcpclient.Changes) string {
	if at == nil || c == nil {
		return ""
	}
	return fmt.Sprintf("%d added, %d removed, %d overwritten, %d renamed, %s", c.Added, c.Removed, c.Overwritten, c.Renamed, moment(at))
}
