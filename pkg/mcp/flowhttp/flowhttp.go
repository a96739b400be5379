// Package flowhttp has the HTTP routes of shared flows besides MCP: the outputs of jobs, which links point to, and the removal of
// expired jobs. The commands of pflow-share do the work.
package flowhttp

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"log/slog"
	"mime"
	"net/http"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/suitetools/flow"
	"github.com/pflow-suite/pflow/pkg/mcp/suitetools/suite"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// Handler answers the routes.
type Handler struct {
	Suite *suite.Programs
	// Secret is what a caller of cleanup has to know; if it is "", every call is refused.
	Secret string
	Log    *slog.Logger
}

// Mount adds the routes to a mux.
func (h *Handler) Mount(mux *http.ServeMux) {
	mux.HandleFunc("GET "+flow.OutputPath+"{job}/{key...}", h.output)
	mux.HandleFunc("POST /api/mcp/cleanup", h.cleanup)
}

// Sweep removes expired jobs every hour, until ctx ends.
func (h *Handler) Sweep(ctx context.Context) {
	hour := time.NewTicker(time.Hour)
	defer hour.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-hour.C:
			if _, err := flow.SweepJobs(ctx, h.Suite); err != nil && ctx.Err() == nil {
				h.Log.Warn("expired jobs cannot be removed", "error", err)
			}
		}
	}
}

// output sends the bytes of an output. Who knows the job's id may read it.
func (h *Handler) output(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; sandbox")
	w.Header().Set("Referrer-Policy", "no-referrer") // the address has the job's id
	o, err := flow.ReadOutput(r.Context(), h.Suite, r.PathValue("job"), r.PathValue("key"))
	if err != nil {
		refuse(w, flow.Status(err), err)
		return
	}
	kind := contentType(o.MIMEType, o.Data)
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Disposition", disposition(kind, o.Name))
	w.Header().Set("Cache-Control", "private, max-age=3600")
	w.Header().Set("ETag", `"`+o.SHA256+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(o.Data)) // with ranges and conditions
}

// contentType returns the media type of content in its canonical form, or application/octet-stream for what is not a media type. UTF-8
// text gets its charset, without which browsers take it for windows-1252.
func contentType(text string, content []byte) string {
	kind, params, err := mime.ParseMediaType(text)
	if err == nil {
		if strings.HasPrefix(kind, "text/") && params["charset"] == "" && utf8.Valid(content) {
			params["charset"] = "utf-8"
		}
		if kind = mime.FormatMediaType(kind, params); kind != "" && strings.Contains(kind, "/") {
			return kind
		}
	}
	return "application/octet-stream"
}

// disposition returns the Content-Disposition of an output: a browser shows media and plain text, and saves all else, because it could
// be active.
func disposition(kind, name string) string {
	how := "attachment"
	base, _, _ := strings.Cut(kind, ";")
	switch family, _, _ := strings.Cut(base, "/"); {
	case base == "text/plain", base == "application/json":
		how = "inline"
	case (family == "image" || family == "audio" || family == "video") && !strings.Contains(base, "+xml") && !strings.Contains(base, "svg"):
		how = "inline"
	}
	name = strings.Map(func(c rune) rune {
		if unicode.IsControl(c) || c == '/' || c == '\\' || c == unicode.ReplacementChar {
			return '_'
		}
		return c
	}, name)
	if value := mime.FormatMediaType(how, map[string]string{"filename": name}); value != "" {
		return value
	}
	return how
}

// cleanup removes expired jobs for a caller that knows the secret.
func (h *Handler) cleanup(w http.ResponseWriter, r *http.Request) {
	scheme, secret, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	given, want := sha256.Sum256([]byte(secret)), sha256.Sum256([]byte(h.Secret))
	if subtle.ConstantTimeCompare(given[:], want[:]) != 1 || h.Secret == "" || !strings.EqualFold(scheme, "Bearer") {
		w.Header().Set("WWW-Authenticate", `Bearer realm="cleanup"`)
		refuse(w, http.StatusUnauthorized, fault.New(fault.Security, "Authorization must be Bearer and the server's CRON_SECRET"))
		return
	}
	document, err := flow.SweepJobs(r.Context(), h.Suite)
	if err != nil {
		refuse(w, http.StatusInternalServerError, err)
		return
	}
	write(w, http.StatusOK, document)
}

// refuse answers with what is wrong.
func refuse(w http.ResponseWriter, status int, err error) {
	f := fault.From(err)
	document, _ := rawjson.Marshal(struct { // which cannot fail: it is text
		Error     string   `json:"error"`
		Available []string `json:"available,omitempty"`
	}{f.Message, f.Available})
	write(w, status, document)
}

func write(w http.ResponseWriter, status int, document json.RawMessage) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(document) // that the client is gone needs no report
}
