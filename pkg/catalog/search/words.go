package search

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kljensen/snowball/english"
)

// Words splits a text into its words: at what is neither letter nor digit, and where a name in camelCase goes on. They
// are lower-cased and have no accents.
func Words(text string) []string {
	var words []string
	scan(text, func(_ string, parts []string) { words = append(words, parts...) })
	return words
}

// scan calls each for every run of letters and digits without anything between: one word, or the parts of a name in
// camelCase. GitHub, too, looks as if it were two words, so that the whole is given beside the parts. The list of parts is
// the caller's until it returns.
func scan(text string, each func(whole string, parts []string)) {
	start, from, last := -1, -1, rune(0) // of the run, and of the part
	var buffer [8]string
	parts := buffer[:0]
	end := func(at int) {
		switch {
		case start < 0:
		case from == start:
			whole := fold(text[start:at])
			each(whole, append(parts, whole))
		default:
			each(fold(text[start:at]), append(parts, fold(text[from:at])))
		}
		start, from, parts = -1, -1, parts[:0]
	}
	next := func(at int) {
		parts = append(parts, fold(text[from:at]))
		from = at
	}
	for i, r := range text {
		switch {
		case r >= 0x300 && unicode.Is(unicode.Mn, r): // an accent that stands by itself belongs to the letter before
			continue
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			end(i)
		case start < 0:
			start, from = i, i
		case unicode.IsUpper(r) && (unicode.IsLower(last) || unicode.IsDigit(last)):
			next(i)
		case unicode.IsLower(r) && unicode.IsUpper(last) && i-utf8.RuneLen(last) > from && !plural(text[i:]):
			next(i - utf8.RuneLen(last)) // HTTPServer is HTTP and Server
		}
		last = r
	}
	end(len(text))
}

// plural says whether the rest of a word is no more than an s, as in URLs.
func plural(rest string) bool {
	after, ok := strings.CutPrefix(rest, "s")
	r, _ := utf8.DecodeRuneInString(after)
	return ok && (after == "" || !unicode.IsLower(r))
}

// fold lower-cases a word and takes the accents off the letters of Latin-1 and off those that carry them as marks.
func fold(word string) string {
	plain := true
	for i := range len(word) {
		plain = plain && word[i] < utf8.RuneSelf
	}
	if plain {
		return strings.ToLower(word)
	}
	return strings.Map(func(r rune) rune {
		r = unicode.ToLower(r)
		switch {
		case unicode.Is(unicode.Mn, r):
			return -1
		case r >= 'à' && r <= 'å':
			return 'a'
		case r == 'ç':
			return 'c'
		case r >= 'è' && r <= 'ë':
			return 'e'
		case r >= 'ì' && r <= 'ï':
			return 'i'
		case r == 'ñ':
			return 'n'
		case r >= 'ò' && r <= 'ö' || r == 'ø':
			return 'o'
		case r >= 'ù' && r <= 'ü':
			return 'u'
		case r == 'ý' || r == 'ÿ':
			return 'y'
		}
		return r
	}, word)
}

// stem is a word without its English ending.
func stem(word string) string {
	word = shortened(word)
	if s := english.Stem(word, true); s != "" {
		return s
	}
	return word
}

// shortened is what counts of a word.
func shortened(word string) string {
	if len(word) <= maxWord {
		return word
	}
	cut := maxWord
	for !utf8.RuneStart(word[cut]) {
		cut--
	}
	return word[:cut]
}

// maxWord is how many bytes of a word count.
const maxWord = 64

// isStopWord says whether a word says nothing of what is looked for.
func isStopWord(word string) bool {
	switch word {
	case "a", "an", "the", "this", "that", "these", "those", "it", "its", "some", "any",
		"of", "to", "in", "on", "at", "for", "from", "by", "with", "into", "onto", "and", "or", "as", "via",
		"is", "are", "be", "was", "do", "does", "can", "could", "should", "would", "will", "has", "have",
		"i", "im", "we", "you", "me", "my", "our", "us", "your", "need", "want", "like", "please", "how", "what", "which", "way",
		"here", "there", "something", "s", "t":
		return true
	}
	return false
}
