package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// canaries is the number of secrets in each place.
const canaries = 20

// The characters of secrets. Each awkward one has another form in JSON, in a URL or in a base64 alphabet.
const (
	plainCharacters   = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"
	awkwardCharacters = `"\/+&<>%~?=`
)

// randomSecrets returns random secrets of 24 characters. Every third character of an awkward one is awkward.
func randomSecrets(rng *rand.Rand, awkward bool) []string {
	list := make([]string, canaries)
	for n := range list {
		b := make([]byte, 24)
		for i := range b {
			b[i] = plainCharacters[rng.IntN(len(plainCharacters))]
			if awkward && i%3 == 1 {
				b[i] = awkwardCharacters[rng.IntN(len(awkwardCharacters))]
			}
		}
		list[n] = string(b)
	}
	return list
}

// hunt searches for secrets in all their forms.
type hunt struct {
	// halves are the halves of each form, so that a secret that was cut is found, with what they are of.
	halves map[string]string
}

func newHunt(secrets []string) *hunt {
	h := &hunt{map[string]string{}}
	for i, s := range secrets {
		for name, form := range secretForms(s) {
			middle := len(form) / 2
			for _, half := range []string{form[:middle], form[middle:]} {
				h.halves[half] = fmt.Sprintf("secret %d, %s", i, name)
			}
		}
	}
	return h
}

// secretForms returns the forms in which a secret must not be anywhere.
func secretForms(secret string) map[string]string {
	quoted := func(s string) string {
		b, _ := json.Marshal(s)
		return string(b[1 : len(b)-1])
	}
	forms := map[string]string{
		"plain": secret, "as JSON": quoted(secret), "as JSON in JSON": quoted(quoted(secret)), "as a query": url.QueryEscape(secret), "as a path": url.PathEscape(secret),
	}
	var b strings.Builder
	for _, c := range []byte(secret) {
		fmt.Fprintf(&b, "%%%02x", c)
	}
	forms["with all percent-encoded"] = b.String()
	for skip := range 3 { // other bytes may stand before it
		whole := []byte(secret[skip:])
		whole = whole[:len(whole)/3*3]
		forms[fmt.Sprintf("as base64 from %d", skip)] = base64.StdEncoding.EncodeToString(whole)
		forms[fmt.Sprintf("as URL base64 from %d", skip)] = base64.URLEncoding.EncodeToString(whole)
	}
	return forms
}

// unbroken removes the line breaks of base64.
var unbroken = strings.NewReplacer("\r\n", "", "\n", "", `\r\n`, "", `\n`, "", `\\n`, "")

// search returns what of the secrets is in a text, and the place.
func (h *hunt) search(text string) []string {
	found := map[string]string{}
	for _, text := range []string{text, unbroken.Replace(text)} {
		for half, what := range h.halves {
			if i := strings.Index(text, half); i >= 0 {
				found[what] = fmt.Sprintf("%s: …%s…", what, text[max(0, i-150):min(len(text), i+80)])
			}
		}
	}
	return slices.Sorted(maps.Values(found))
}

// verifyNoSecret searches the outputs of all programs, the home except the files that the user wrote, and the names of its files.
func (t *trial) verifyNoSecret(secrets []string, theirs ...string) {
	h := newHunt(secrets)
	look := func(where, text string) {
		if found := h.search(text); len(found) > 0 {
			t.Found += len(found)
			t.complain("%s has %d parts of secrets, the first is %s", where, len(found), found[0])
		}
	}
	for _, c := range t.calls {
		for _, file := range []string{c.stdout, c.stderr} {
			text, err := os.ReadFile(file)
			if err != nil {
				t.complain("cannot read the output of %s", c)
			}
			look("the output of "+c.String(), string(text))
		}
	}
	files := 0
	err := filepath.WalkDir(t.home, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(t.home, path)
		look("the name of "+name, name)
		if !entry.Type().IsRegular() || slices.Contains(theirs, name) {
			return nil
		}
		files++
		text, err := os.ReadFile(path)
		look(name, string(text))
		return err
	})
	if err != nil || files == 0 {
		t.complain("%d files of the home were read: %v", files, err)
	}
}
