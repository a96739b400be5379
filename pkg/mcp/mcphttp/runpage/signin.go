package runpage

import (
	"net/http"
	"net/url"
	"strings"
)

// ServerOf returns the URL of the server of a request as the browser names it: its public one, or else that of the host and port.
func ServerOf(public *url.URL, r *http.Request) string {
	if public != nil {
		return public.String()
	}
	return "http://" + strings.ToLower(r.Host)
}

// Cookie returns the name of the cookie that has the session of a browser at a server. Servers on other ports of the host have others, because
// the browser keeps them together.
func Cookie(server string) string {
	const name = "pflow_session"
	if u, err := url.Parse(server); err == nil && u.Port() != "" {
		return name + "_" + u.Port()
	}
	return name
}

// cookie returns the name of the cookie for a request.
func (h *Handler) cookie(r *http.Request) string { return Cookie(ServerOf(h.Public, r)) }

// maxForm is the most bytes of a form.
const maxForm = 4 << 10

// welcome is the content of the page that takes a token.
type welcome struct {
	// Next is the path of the page that is shown then.
	Next string
	// Message says why the last token was not taken, or is "".
	Message string
}

// refuse answers a sender that may see nothing with the form for a token. A cookie with a session that does not go on is removed.
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
	if _, missing := r.Cookie(h.cookie(r)); missing == nil {
		c.Message = d.Message
		h.keep(w, r, "")
	}
	h.write(w, r, &page{Name: "sign-in", Title: "Sign in", Status: d.Status, Content: c})
}

// signIn takes a token and has the browser keep a session that goes on by it.
func (h *Handler) signIn(w http.ResponseWriter, r *http.Request) {
	if !h.fromPage(w, r) {
		return
	}
	token, next := strings.TrimSpace(r.PostFormValue("token")), r.PostFormValue("next")
	session, err := h.SignIn(r, token)
	if err != nil {
		d := denied(err)
		if d == nil {
			h.write(w, r, failed(err))
			return
		}
		h.write(w, r, &page{Name: "sign-in", Title: "Sign in", Status: d.Status, Content: welcome{next, d.Message}})
		return
	}
	h.keep(w, r, session)
	h.write(w, r, &page{Moved: local(next)})
}

// signOut ends the session of a browser.
func (h *Handler) signOut(w http.ResponseWriter, r *http.Request) {
	if !h.fromPage(w, r) {
		return
	}
	if err := h.SignOut(r); err != nil {
		h.write(w, r, failed(err))
		return
	}
	h.keep(w, r, "")
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

// keep has the browser keep a session for requests of these pages only, or forget it if it is "".
func (h *Handler) keep(w http.ResponseWriter, r *http.Request, session string) {
	c := &http.Cookie{
		Name: h.cookie(r), Value: session, Path: h.root() + "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: h.Public != nil && h.Public.Scheme == "https",
	}
	if session == "" {
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
