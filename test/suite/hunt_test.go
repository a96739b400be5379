package suite

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// random returns a secret of 24 characters. Every third character of an awkward one has another form in JSON or in URLs.
func random(awkward bool) string {
	const plain, special = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789", `"\/+&<>%~ ?='`
	var b strings.Builder
	for i := range 24 {
		if awkward && i%3 == 1 {
			b.WriteByte(special[rand.IntN(len(special))])
			continue
		}
		b.WriteByte(plain[rand.IntN(len(plain))])
	}
	return b.String()
}

// hunt searches for a secret in all its forms, and for parts of them, which a cut in the wrong place would leave.
type hunt struct {
	*place
	parts map[string]string // with the form that each is of
	sizes map[int]bool      // that the parts have
	// theirs are the files of the home into which the user wrote the secrets.
	theirs []string
}

// look returns a hunt for secrets.
func (p *place) look(secrets ...string) *hunt {
	h := &hunt{p, map[string]string{}, map[int]bool{}, []string{"settings.json"}}
	for _, secret := range secrets {
		h.add(secret)
	}
	return h
}

// add adds the forms of a secret.
func (h *hunt) add(secret string) {
	quoted := func(s string) string { return strings.Trim(quote(s), `"`) }
	forms := map[string]string{
		"plain": secret, "JSON": quoted(secret), "JSON in JSON": quoted(quoted(secret)), "JSON with slashes escaped": strings.ReplaceAll(quoted(secret), "/", `\/`),
		"a query": url.QueryEscape(secret), "a path": url.PathEscape(secret),
	}
	for i, format := range []string{"%%%02x", "%%%02X", `\u%04x`, `\u%04X`} {
		var b strings.Builder
		for _, c := range []byte(secret) {
			fmt.Fprintf(&b, format, c)
		}
		forms[fmt.Sprintf("all escaped %d", i)] = b.String()
	}
	for skip := range 3 {
		all := []byte(secret)[skip:]
		all = all[:len(all)/3*3]
		forms[fmt.Sprintf("base64 from %d", skip)] = base64.StdEncoding.EncodeToString(all)
		forms[fmt.Sprintf("URL base64 from %d", skip)] = base64.URLEncoding.EncodeToString(all)
	}
	for name, form := range forms {
		size := partSize * len(form) / len(secret) / 3 * 3
		for i := range len(form) - size + 1 {
			h.parts[form[i:i+size]] = name
			h.sizes[size] = true
		}
	}
}

// unbroken removes the line breaks of base64.
var unbroken = strings.NewReplacer("\r\n", "", "\n", "", `\r\n`, "", `\n`, "", `\\n`, "")

// in fails the test if a text contains the secret.
func (h *hunt) in(where, text string) {
	h.Helper()
	for _, text := range []string{text, unbroken.Replace(text)} {
		for size := range h.sizes {
			for i := range max(0, len(text)-size+1) {
				if form, found := h.parts[text[i:i+size]]; found {
					h.Errorf("the secret, as %s, is in %s: …%s…", form, where, text[max(0, i-150):min(len(text), i+80)])
					return
				}
			}
		}
	}
}

// inHome fails the test if a file of the home contains the secret, except the settings, which the user wrote.
func (h *hunt) inHome() {
	h.Helper()
	seen := 0
	err := filepath.WalkDir(h.home, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(h.home, path)
		h.in("the name of "+name, name)
		if entry.Type().IsRegular() && !slices.Contains(h.theirs, name) {
			seen++
			content, err := os.ReadFile(path)
			h.in(name, string(content))
			if !errors.Is(err, fs.ErrNotExist) { // a run that ends removes its file meanwhile
				return err
			}
		}
		return nil
	})
	if err != nil || seen == 0 {
		h.Errorf("%d files were looked at: %v", seen, err)
	}
}

// ask runs a program and searches its output.
func (h *hunt) ask(stdin, name string, args ...string) outcome {
	h.Helper()
	o := h.fed(stdin, name, args...)
	what := name + " " + strings.Join(args[:min(2, len(args))], " ")
	h.in("standard output of "+what, o.stdout)
	h.in("standard error of "+what, o.stderr)
	return o
}

// readers are the commands that show the newest run.
var readers = []string{
	"pflow-exec list", "pflow-exec status last", "pflow-exec status last --format text", "pflow-exec events last", "pflow-exec wait last",
	"pflow-exec events last --inline", "pflow-exec logs last", "pflow-exec logs last --format text", "pflow-exec show last",
	"pflow-exec show last --format text", "pflow-exec report last", "pflow-exec gc --dry-run",
	"pflow-exec wait last --format text", "pflow-exec cancel last", "pflow-lib graph telling --run last", "pflow-lib graph telling --run last --as svg",
	"pflow-lib describe telling", "pflow-lib list --drafts", "pflow-lib search token",
}

// everywhere searches the output of all readers, and the home.
func (h *hunt) everywhere() {
	h.Helper()
	for _, command := range readers {
		words := append(strings.Fields(command), "--log-level", "debug")
		if o := h.ask("", words[0], words[1:]...); o.exit > 1 && o.exit != 4 {
			h.Errorf("%s: %s", command, o)
		}
	}
	h.inHome()
}
