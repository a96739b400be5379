package runpage

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed" // the style sheet, the script and the templates
	"encoding/hex"
	"html/template"
	"net/http"
	"sync"
	"time"
)

var (
	//go:embed page.css
	pageCSS string
	//go:embed page.js
	pageJS string
	//go:embed page.svg
	pageSVG string
	//go:embed page.html
	pageHTML string
)

var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("pages").Parse(pageHTML))
})

// maxAsset is the most bytes of the style or the script of fragments.
const maxAsset = 1 << 20

// assets are the style sheet and the script. Both begin with what belongs to the fragments of runs, which pflow-exec prints.
type assets struct {
	mu            sync.Mutex
	style, script []byte
}

func (h *Handler) style(w http.ResponseWriter, r *http.Request) {
	h.asset(w, r, &h.assets.style, "--style", "text/css; charset=utf-8", pageCSS)
}

func (h *Handler) script(w http.ResponseWriter, r *http.Request) {
	h.asset(w, r, &h.assets.script, "--script", "text/javascript; charset=utf-8", pageJS)
}

// asset sends a part of the pages. What belongs to fragments is read once.
func (h *Handler) asset(w http.ResponseWriter, r *http.Request, kept *[]byte, flag, kind, own string) {
	protect(w)
	h.assets.mu.Lock()
	defer h.assets.mu.Unlock()
	if *kept == nil {
		part, err := h.Programs.Print(context.WithoutCancel(r.Context()), maxAsset, "pflow-exec", "report", flag)
		if err != nil {
			h.Log.Error("a part of the pages cannot be read", "flag", flag, "error", err)
			http.Error(w, "The file cannot be read", http.StatusInternalServerError)
			return
		}
		*kept = append(part, own...)
	}
	send(w, r, kind, *kept)
}

// icon sends the picture that browsers show beside the title.
func (*Handler) icon(w http.ResponseWriter, r *http.Request) {
	protect(w)
	send(w, r, "image/svg+xml", []byte(pageSVG))
}

// send sends a file that a browser may keep as long as it has not changed.
func send(w http.ResponseWriter, r *http.Request, kind string, file []byte) {
	sum := sha256.Sum256(file)
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("ETag", `"`+hex.EncodeToString(sum[:16])+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(file))
}
