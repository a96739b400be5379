package runpage

import (
	"net/http"
	"strings"
)

// Cookie is the name of the cookie that has the token of a browser.
const Cookie = "pflow_token"

// maxForm is the most bytes of a form.
const maxForm = 4 << 10

// welcome is the content of the page that takes a token.
type welcome struct {
	// Next is the path of the page that is shown then.
	Next string
	// Message says why the last token was not taken, or is "".
	Message string
}

// refuse answers a sender that may see nothing with the form for a token. A cookie with a token that is not valid is removed.
func (h *Handler) refuse(w http.ResponseWriter, r *http.Request, err error) {
	d := denied(err)
	if d == nil {
		h.write(w, r, failed(err))
		return
	}
	c := welcome{Next: "/"}
	if r.Method == http.MethodGet {
		c.Next = r.URL.RequestURI()
	}
	if _, missing := r.Cookie(Cookie); missing == nil {
		c.Message = d.Message
		h.setToken(w, "")
	}
	h.write(w, r, &page{Name: "sign-in", Title: "Sign in", Status: d.Status, Content: c})
}

// signIn takes a token, checks it and has the browser keep it.
func (h *Handler) signIn(w http.ResponseWriter, r *http.Request) {
	if !h.fromPage(w, r) {
		return
	}
	token, next := strings.TrimSpace(r.PostFormValue("token")), r.PostFormValue("next")
	check := r.Clone(r.Context())
	check.Header.Del("Cookie")
	check.Header.Set("Authorization", "Bearer "+token)
	if _, err := h.Reach(check); err != nil {
		d := denied(err)
		if d == nil {
			h.write(w, r, failed(err))
			return
		}
		h.write(w, r, &page{Name: "sign-in", Title: "Sign in", Status: d.Status, Content: welcome{next, d.Message}})
		return
	}
	h.setToken(w, token)
	h.write(w, r, &page{Moved: local(next)})
}

// signOut has the browser forget the token.
func (h *Handler) signOut(w http.ResponseWriter, r *http.Request) {
	if !h.fromPage(w, r) {
		return
	}
	h.setToken(w, "")
	h.write(w, r, &page{Moved: "/"})
}

// fromPage reports whether a form comes from a page of the server, and refuses it otherwise. The guard has compared the origin.
func (h *Handler) fromPage(w http.ResponseWriter, r *http.Request) bool {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if r.Header.Get("Origin") != "" {
		return true
	}
	protect(w)
	http.Error(w, "The request has no Origin: it must come from a page of this server", http.StatusForbidden)
	return false
}

// setToken has the browser keep a token for requests of these pages only, or forget it if it is "".
func (h *Handler) setToken(w http.ResponseWriter, token string) {
	c := &http.Cookie{
		Name: Cookie, Value: token, Path: h.root() + "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: h.Public != nil && h.Public.Scheme == "https",
	}
	if token == "" {
		c.MaxAge = -1
	}
	http.SetCookie(w, c)
}

// local returns a path of this server: next, or / if that leads elsewhere.
func local(next string) string {
	if !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") || strings.ContainsAny(next, "\\\r\n\t") {
		return "/"
	}
	return next
}
