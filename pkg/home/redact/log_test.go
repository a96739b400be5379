package redact

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
)

func TestLogsLackSecrets(t *testing.T) {
	r := New()
	r.Add("token", "s3cr3t-value")
	var out bytes.Buffer
	log := slog.New(r.Handler(slog.NewTextHandler(&out, nil)))
	log.With("a", "x s3cr3t-value").WithGroup("g").Warn("m s3cr3t-value", "b", "s3cr3t-value", "e", errors.New("bad s3cr3t-value"), "n", 3)
	if strings.Contains(out.String(), "s3cr3t") || strings.Count(out.String(), Mark) != 4 || !strings.Contains(out.String(), "g.n=3") {
		t.Error(out.String())
	}
}
