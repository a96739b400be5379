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
	//go:embed page-stream.js
	streamJS string
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

// asset is a file that belongs to all pages. It may begin with what belongs to the fragments of runs, which pflow-exec prints.
type asset struct {
	// name is its path, flag, unless it is "", makes pflow-exec report print its beginning, and own is the rest.
	name, kind, flag, own string

	mu      sync.Mutex
	file    []byte
	version string
}

func newAssets() (style, script, worker *asset) {
	const code = "text/javascript; charset=utf-8"
	return &asset{name: "/page.css", kind: "text/css; charset=utf-8", flag: "--style", own: pageCSS},
		&asset{name: "/page.js", kind: code, flag: "--script", own: pageJS},
		&asset{name: "/page-stream.js", kind: code, own: streamJS}
}

// read returns the asset and its version, which follows from its content. It is read once.
func (h *Handler) read(ctx context.Context, a *asset) (file []byte, version string, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.file == nil {
		var part []byte
		if a.flag != "" {
			if part, err = h.Programs.Print(context.WithoutCancel(ctx), maxAsset, "pflow-exec", "report", a.flag); err != nil {
				return nil, "", err
			}
		}
		a.file = append(part, a.own...)
		a.version = versionOf(a.file)
	}
	return a.file, a.version, nil
}

// address returns the path of an asset for a page, with the version, so that a browser keeps it.
func (h *Handler) address(ctx context.Context, a *asset) string {
	_, version, err := h.read(ctx, a)
	if err != nil {
		return a.name // which answers with the error
	}
	return a.name + "?v=" + version
}

// serve returns the handler of an asset.
func (h *Handler) serve(a *asset) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		protect(w)
		file, version, err := h.read(r.Context(), a)
		if err != nil {
			h.Log.Error("a part of the pages cannot be read", "flag", a.flag, "error", err)
			http.Error(w, "The file cannot be read", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Cache-Control", "no-cache")
		if r.URL.Query().Get("v") == version {
			w.Header().Set("Cache-Control", "private, max-age=31536000, immutable")
		}
		send(w, r, a.kind, version, file)
	}
}

// icon sends the picture that browsers show beside the title.
func (*Handler) icon(w http.ResponseWriter, r *http.Request) {
	protect(w)
	w.Header().Set("Cache-Control", "no-cache")
	send(w, r, "image/svg+xml", versionOf([]byte(pageSVG)), []byte(pageSVG))
}

func versionOf(file []byte) string {
	sum := sha256.Sum256(file)
	return hex.EncodeToString(sum[:16])
}

// send sends a file, unless the browser has this version of it.
func send(w http.ResponseWriter, r *http.Request, kind, version string, file []byte) {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("ETag", `"`+version+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(file))
}
