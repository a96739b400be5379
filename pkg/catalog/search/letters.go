package search

import "math/bits"

// letterSets has the letters of each term of each index, one bit per letter; of computes them once. An edit changes at most two
// bits, so that most terms can be ruled out without computing a distance.
type letterSets struct{ sets [][]uint32 }

func (l *letterSets) of(over []*Index) [][]uint32 {
	if l.sets != nil {
		return l.sets
	}
	l.sets = make([][]uint32, len(over))
	for n, x := range over {
		l.sets[n] = make([]uint32, x.words())
		for i := range l.sets[n] {
			l.sets[n][i] = lettersOf(x.bytes(i))
		}
	}
	return l.sets
}

// lettersOf returns the letters of a word. Other bytes share the remaining bits.
func lettersOf[W string | []byte](word W) (set uint32) {
	for i := range len(word) {
		b := word[i]
		if 'a' <= b && b <= 'z' {
			set |= 1 << (b - 'a')
		} else {
			set |= 1 << (26 + b%6)
		}
	}
	return set
}

// differ returns the number of letters that only one of two words has.
func differ(a, b uint32) int { return bits.OnesCount32(a ^ b) }

// Alike returns the words that may be within a number of edits of a word. It rules out most others faster than a count of the edits.
func Alike(word string, words []string, edits int) (alike []string) {
	letters := lettersOf(word)
	for _, w := range words {
		if n := len(w) - len(word); n <= edits && -n <= edits && differ(letters, lettersOf(w)) <= 2*edits {
			alike = append(alike, w)
		}
	}
	return alike
}
