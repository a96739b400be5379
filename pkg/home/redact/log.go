package redact

import (
	"context"
	"log/slog"
)

// Handler returns a log handler that redacts the texts that it passes to next.
func (r *Redactor) Handler(next slog.Handler) slog.Handler { return logHandler{next, r} }

type logHandler struct {
	slog.Handler
	redactor *Redactor
}

func (h logHandler) Handle(ctx context.Context, record slog.Record) error {
	clean := slog.NewRecord(record.Time, record.Level, h.redactor.Text(record.Message), record.PC)
	record.Attrs(func(a slog.Attr) bool {
		clean.AddAttrs(h.clean(a))
		return true
	})
	return h.Handler.Handle(ctx, clean)
}

func (h logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	clean := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		clean[i] = h.clean(a)
	}
	return logHandler{h.Handler.WithAttrs(clean), h.redactor}
}

func (h logHandler) WithGroup(name string) slog.Handler {
	return logHandler{h.Handler.WithGroup(name), h.redactor}
}

func (h logHandler) clean(a slog.Attr) slog.Attr {
	switch a.Value.Kind() {
	case slog.KindString, slog.KindAny: // KindAny includes errors
		return slog.String(a.Key, h.redactor.Text(a.Value.String()))
	}
	return a
}
