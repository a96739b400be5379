package offer

import (
	"crypto/sha256"
	"encoding/base32"
	"strings"
)

// MaxName is the most bytes of a tool's name. Clients put the name of the server before it and refuse what is longer than 64.
const MaxName = 40

// Names returns the name of each listing's tool, in their order: [a-z0-9_-], at most MaxName bytes, no two alike and none that is
// taken. It is the listing's own name where that is possible. Any other name ends in a digest of the listing's name and id, so it
// does not depend on the other listings, except that several listings with one name have their ids in theirs. A workflow of the library
// has its id as its name, so it keeps that beside those of sources. The ids of one source must differ. A name is "" if the names of
// other listings have been chosen so that none is left.
func Names(listings []Listing, taken []string) []string {
	used := make(map[string]bool, len(taken)+len(listings))
	for _, name := range taken {
		used[name] = true
	}
	same := make(map[string]int, len(listings))
	for _, l := range listings {
		same[l.Name]++
	}
	names := make([]string, len(listings))
	for i, l := range listings {
		if clean(l.Name) == l.Name && len(l.Name) <= MaxName && (same[l.Name] == 1 || l.Source == "" && l.ID == l.Name) && !used[l.Name] {
			names[i], used[l.Name] = l.Name, true
		}
	}
	digested(listings, same, names, used)
	return names
}

// digested gives the listings without a name one that ends in a digest. Where two would be alike, the digests are longer.
func digested(listings []Listing, same map[string]int, names []string, used map[string]bool) {
	for digits := 8; digits <= maxDigits; digits += 8 {
		made := make(map[string][]int)
		for i, l := range listings {
			if names[i] == "" {
				name := withDigest(l, same[l.Name] > 1, digits)
				made[name] = append(made[name], i)
			}
		}
		for name, of := range made {
			if len(of) == 1 && !used[name] {
				names[of[0]], used[name] = name, true
			}
		}
	}
}

// maxDigits is the most digits of a digest, which are 160 bits.
const maxDigits = 32

// withDigest returns the name of a listing with digits of its digest at the end, and its id before that if withID is set.
func withDigest(l Listing, withID bool, digits int) string {
	text := l.Name
	if withID {
		text += "-" + l.ID
	}
	sum := sha256.Sum256([]byte(l.Workflow() + "\x00" + l.Name))
	digest := strings.ToLower(base32.HexEncoding.EncodeToString(sum[:]))[:digits]
	plain := clean(text)
	return strings.TrimLeft(strings.TrimRight(plain[:min(len(plain), MaxName-1-digits)], "-_")+"-"+digest, "-")
}

// clean returns a text in lower case with a hyphen for each run of characters that a name cannot have.
func clean(text string) string {
	var name strings.Builder
	for _, r := range strings.ToLower(text) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_' || r == '-':
			name.WriteRune(r)
		case !strings.HasSuffix(name.String(), "-"):
			name.WriteByte('-')
		}
	}
	return name.String()
}
