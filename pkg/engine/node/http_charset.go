package node

import (
	"io"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"
)

// toUTF8 returns a writer that converts a text body to UTF-8 if its charset is Latin-1 or Windows-1252. Both are read as the
// latter, as browsers do (WHATWG Encoding, 4.2). Other bytes are written unchanged.
func toUTF8(to io.Writer, resp *http.Response) io.Writer {
	kind, params, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil || !isText(kind) {
		return to
	}
	switch strings.ToLower(params["charset"]) {
	case "iso-8859-1", "iso8859-1", "latin1", "latin-1", "windows-1252", "cp1252":
		return &windows1252{to: to}
	}
	return to
}

// isText reports whether a media type is one of text.
func isText(kind string) bool {
	if strings.HasPrefix(kind, "text/") {
		return true
	}
	for _, part := range [...]string{"json", "xml", "javascript", "x-www-form-urlencoded"} {
		if strings.Contains(kind, part) {
			return true
		}
	}
	return false
}

// windows1252 converts Windows-1252 to UTF-8.
type windows1252 struct {
	to   io.Writer
	text []byte
}

// Write writes the characters of p as UTF-8.
func (w *windows1252) Write(p []byte) (int, error) {
	w.text = w.text[:0]
	for _, b := range p {
		r := rune(b)
		if b >= 0x80 && b < 0xA0 {
			r = upper1252[b-0x80]
		}
		w.text = utf8.AppendRune(w.text, r)
	}
	if _, err := w.to.Write(w.text); err != nil {
		return 0, err
	}
	return len(p), nil
}

// upper1252 holds the characters of the bytes 0x80 to 0x9F, where Windows-1252 differs from Latin-1.
var upper1252 = [32]rune{
	0x20AC, 0x81, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D, 0x017D, 0x8F,
	0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D, 0x017E, 0x0178,
}
