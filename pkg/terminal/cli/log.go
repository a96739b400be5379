package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/terminal/cells"
)

// newLogger returns the logger that the flags of a program describe. On a terminal, its warnings and errors look like those of the program.
func newLogger(name string, w io.Writer, level, format string, quiet bool) *slog.Logger {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		l = slog.LevelWarn
	}
	if quiet {
		l = max(l, slog.LevelError)
	}
	options := &slog.HandlerOptions{Level: l}
	if format == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	text := slog.NewTextHandler(w, options)
	if _, terminal := w.(*cells.Writer); terminal {
		return slog.New(warningHandler{Handler: text, out: w, name: name})
	}
	return slog.New(text)
}

// warningHandler writes warnings and errors as App.Warn and App.Complain do, with their attributes in brackets. The other records go to
// the handler in it.
type warningHandler struct {
	slog.Handler
	out   io.Writer
	name  string
	group string
	attrs []string
}

func (h warningHandler) Handle(ctx context.Context, r slog.Record) error {
	if r.Level < slog.LevelWarn {
		return h.Handler.Handle(ctx, r)
	}
	kind := "warning"
	if r.Level >= slog.LevelError {
		kind = "error"
	}
	attrs := slices.Clone(h.attrs)
	r.Attrs(func(a slog.Attr) bool {
		attrs = append(attrs, h.shown(a))
		return true
	})
	text := r.Message
	if len(attrs) > 0 {
		text += " (" + strings.Join(attrs, ", ") + ")"
	}
	_, err := fmt.Fprintf(h.out, "%s: %s: %s\n", h.name, kind, cells.Clean(text))
	return err
}

func (h warningHandler) shown(a slog.Attr) string {
	return h.group + a.Key + ": " + a.Value.Resolve().String()
}

func (h warningHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	h.Handler, h.attrs = h.Handler.WithAttrs(attrs), slices.Clone(h.attrs)
	for _, a := range attrs {
		h.attrs = append(h.attrs, h.shown(a))
	}
	return h
}

func (h warningHandler) WithGroup(name string) slog.Handler {
	h.Handler, h.group = h.Handler.WithGroup(name), h.group+name+"."
	return h
}
