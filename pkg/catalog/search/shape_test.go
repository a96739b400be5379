package search

import (
	"slices"
	"strings"
	"testing"
)

func TestFormsOfValues(t *testing.T) {
	for field, want := range map[string]string{
		"notes.txt": "file", "src/main.go": "file", "(config.yaml),": "file", "logo.PNG": "media file", "*.test.ts": "pattern file",
		"/etc/hosts": "path file", "~/work": "path file", "../x": "path file", "https://a.b/c": "url", "example.com": "url", "www.example": "url",
		"#general": "channel", "@maria": "user", "a@example.org": "email", "9:00": "time", "3pm": "time", "800x600": "dimensions",
		"abc123f": "commit", "42": "", "#42": "-", "1.2": "-", "v1.2": "-", "word": "-", "e.g.": "-", "read_file": "-", "...": "-", "": "-", "ab:cd": "-", "beaded": "-",
		"Käse": "-", "x": "-",
	} {
		words, ok := formOf(field)
		if !ok {
			words = "-"
		}
		if words != want {
			t.Errorf("%q: %q, want %q", field, words, want)
		}
	}
}

// The words of values are marked, here by an asterisk, and the word for their form comes before them.
func TestWordsOfAQuery(t *testing.T) {
	for query, want := range map[string]string{
		"read notes.txt now":           "read file notes* txt* now",
		"notes.txt":                    "notes txt",
		`choose "two words" of a list`: "choose two* words* of a list",
		`"two words"`:                  "two words",
		` "two words" `:                "two words",
		`choose "one" or "two"`:        "choose one* or two*",
		`a quoted" word`:               "a quoted word",
		`"a" quoted" word`:             "a* quoted word",
		"top 10 of getIssue":           "top 10* of get issue",
		"":                             "",
		"   ":                          "",
	} {
		var got []string
		scanQuery(query, func(_ string, parts []string, as manner) bool {
			for _, p := range parts {
				if as.value {
					p += "*"
				}
				got = append(got, p)
			}
			return true
		})
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %q, want %q", query, got, want)
		}
	}
}

// The scan ends when the function returns false: before, at and after the word for a form.
func TestTheScanOfAQueryEnds(t *testing.T) {
	all := []string{"read", "file", "notes", "txt", "now"}
	for most := 1; most <= len(all); most++ {
		var got []string
		scanQuery("read notes.txt now", func(_ string, parts []string, _ manner) bool {
			got = append(got, parts...)
			return len(got) < most
		})
		if !slices.Equal(got, all[:most]) {
			t.Errorf("%d words: %q", most, got)
		}
	}
}
