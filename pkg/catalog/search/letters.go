package search

import "math/bits"

// letterSets are which letters the terms of indexes have, a bit for each, made when they are first asked for. An edit
// changes two bits at most, so that most terms are told apart from a word without counting edits.
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

// lettersOf are the letters of a word. Other bytes share what bits are left.
func lettersOf(word []byte) (set uint32) {
	for _, b := range word {
		if 'a' <= b && b <= 'z' {
			set |= 1 << (b - 'a')
		} else {
			set |= 1 << (26 + b%6)
		}
	}
	return set
}

// differ counts the letters that only one of two words has.
func differ(a, b uint32) int { return bits.OnesCount32(a ^ b) }
