package search

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kljensen/snowball/english"
)

// Words splits a text into its words, lower-cased and without accents. It splits at characters that are neither letters nor
// digits, and between the parts of a name in camelCase.
func Words(text string) []string {
	var words []string
	scan(text, func(_ string, parts []string) bool {
		words = append(words, parts...)
		return true
	})
	return words
}

// scan calls each for every run of letters and digits, with the whole run and its parts: one word, or the parts of a name in
// camelCase. Both are needed, because a name like GitHub looks like two words. The function must not keep parts. If it returns
// false, scan ends.
func scan(text string, each func(whole string, parts []string) bool) {
	start, from, last := -1, -1, rune(0) // of the run, and of the part
	var buffer [8]string
	parts := buffer[:0]
	end := func(at int) (goOn bool) {
		switch {
		case start < 0:
			goOn = true
		case from == start:
			whole := fold(text[start:at])
			goOn = each(whole, append(parts, whole))
		default:
			goOn = each(fold(text[start:at]), append(parts, fold(text[from:at])))
		}
		start, from, parts = -1, -1, parts[:0]
		return goOn
	}
	next := func(at int) {
		parts = append(parts, fold(text[from:at]))
		from = at
	}
	for i, r := range text {
		switch {
		case r >= 0x300 && unicode.Is(unicode.Mn, r): // a combining accent belongs to the letter before it
			continue
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			if !end(i) {
				return
			}
		case start < 0:
			start, from = i, i
		case unicode.IsUpper(r) && (unicode.IsLower(last) || unicode.IsDigit(last)):
			next(i)
		case unicode.IsLower(r) && unicode.IsUpper(last) && i-utf8.RuneLen(last) > from && !plural(text[i:]):
			next(i - utf8.RuneLen(last)) // split HTTPServer into HTTP and Server
		}
		last = r
	}
	end(len(text))
}

// plural reports whether the rest of a word is only an s, as in URLs.
func plural(rest string) bool {
	after, ok := strings.CutPrefix(rest, "s")
	r, _ := utf8.DecodeRuneInString(after)
	return ok && (after == "" || !unicode.IsLower(r))
}

// fold returns a word lower-cased and without the accents of Latin-1 letters and combining accents.
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

// stem returns a word without its English ending.
func stem(word string) string {
	word = shortened(word)
	if s := english.Stem(word, true); s != "" {
		return s
	}
	return word
}

// shortened returns the beginning of a word, which is the part that counts.
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

// maxWord is the number of bytes of a word that count.
const maxWord = 64

// namesake is a word that the names of all tools of MCP servers begin with.
const namesake = "mcp"

// isStopWord reports whether a word is too common to search for.
func isStopWord(word string) bool {
	switch word {
	case "a", "an", "the", "this", "that", "these", "those", "it", "its", "some", "any",
		"of", "to", "in", "on", "at", "for", "from", "by", "with", "into", "onto", "and", "or", "as", "via",
		"is", "are", "be", "was", "do", "does", "can", "could", "should", "would", "will", "has", "have",
		"i", "im", "we", "you", "me", "my", "our", "us", "your", "need", "want", "like", "please", "how", "what", "which", "way",
		"here", "there", "something", "s", "t", namesake:
		return true
	}
	return false
}

// isFiller reports whether a word says nothing in a query, although it may in a document.
func isFiller(word string) bool {
	switch word {
	case "when", "where", "whose", "am", "did", "been", "just", "so", "let", "lets", "give", "tell", "everything", "anything",
		"anybody", "somebody", "someone", "one", "ones", "he", "she", "they", "them", "their", "his", "her", "there", "then", "than",
		"through", "about", "but", "if", "not", "now", "also", "using", "use", "used", "via", "without", "within", "be", "being", "myself", "own":
		return true
	}
	return false
}

// isPreposition reports whether a word of a query begins a part that says where or of what something is.
func isPreposition(word string) bool {
	switch word {
	case "of", "on", "in", "from", "to", "at", "for", "with", "by", "into", "onto", "below", "under", "within", "inside", "as":
		return true
	}
	return false
}

// isPlural reports whether a word looks like a plural.
func isPlural(word string) bool {
	return len(word) > 2 && word[len(word)-1] == 's' && word[len(word)-2] != 's' && stem(word) != word
}

// isLight reports whether a word of a query says less than its rarity suggests, because it only goes with another word.
func isLight(word string) bool {
	switch word {
	case "new", "open", "show", "look", "see", "view", "get", "current", "certain", "specific", "particular", "given", "existing", "running", "live", "single", "whole", "every",
		"more", "another", "other", "different", "local", "first", "last", "next", "previous", "already", "still", "again",
		"put", "set", "make", "made", "go", "take", "start", "keep", "say", "says", "work", "working", "thing", "things",
		"out", "up", "off", "back", "number", "two", "three", "four", "five", "ten":
		return true
	}
	return false
}
