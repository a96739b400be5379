package page

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// Place is where a page begins in a list: after the entry with a certain key. The number of entries before it finds the place
// fast, and replaces the key if that entry no longer exists. The zero value is the beginning of the list.
type Place struct {
	at    int
	after uint32
}

// After returns the place before the entry of index at, where key returns the keys of the entries.
func After(at int, key func(i int) string) Place {
	if at == 0 {
		return Place{}
	}
	return Place{at, checksum(key(at - 1))}
}

// In returns the index of the place in a list of n entries.
func (p Place) In(n int, key func(i int) string) int {
	if p.at == 0 || p.at <= n && checksum(key(p.at-1)) == p.after {
		return p.at
	}
	for i := range n {
		if checksum(key(i)) == p.after {
			return i + 1
		}
	}
	return min(p.at, n)
}

func checksum(key string) uint32 { return crc32.ChecksumIEEE([]byte(key)) }

// The parts of a cursor: the version of its form, and the digest of the query that it belongs to.
const (
	cursorVersion = 1
	digestSize    = 6
)

// Cursor returns the text that names places, one for each list of an answer, for the query that the answer is to. The query is
// anything that JSON can express. The text has at most MaxCursor bytes for two lists and does not begin with a hyphen.
func Cursor(query any, places ...Place) string {
	b := append([]byte{cursorVersion}, digest(query)...)
	for _, p := range places {
		b = binary.AppendUvarint(b, uint64(p.at))
		b = binary.BigEndian.AppendUint32(b, p.after)
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// MaxCursor is the most bytes of a cursor for two lists.
const MaxCursor = 48

// Places returns the places that a cursor names for a query, one for each list. An empty cursor names their beginnings. The error
// is a usage_error if the text is no cursor or belongs to another query.
func Places(cursor string, query any, lists int) ([]Place, error) {
	places := make([]Place, lists)
	if cursor == "" {
		return places, nil
	}
	b, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || len(b) < 1+digestSize || b[0] != cursorVersion {
		return nil, foreign(cursor)
	}
	if string(b[1:1+digestSize]) != string(digest(query)) {
		return nil, fault.New(fault.Usage, "The cursor %q belongs to another query", fault.Truncate(cursor, 80)).
			Suggest("Repeat the other arguments of the query whose answer has this next_cursor, or leave the cursor out")
	}
	b = b[1+digestSize:]
	for i := range places {
		at, n := binary.Uvarint(b)
		if n <= 0 || at > Unlimited || len(b) < n+4 {
			return nil, foreign(cursor)
		}
		places[i] = Place{int(at), binary.BigEndian.Uint32(b[n:])}
		b = b[n+4:]
	}
	if len(b) > 0 {
		return nil, foreign(cursor)
	}
	return places, nil
}

// foreign returns the fault of a text that is no cursor.
func foreign(cursor string) *fault.Fault {
	return fault.New(fault.Usage, "The cursor %q is not one that an answer has returned", fault.Truncate(cursor, 80)).
		Suggest("Use next_cursor of the page before, unchanged, or leave the cursor out to begin with the first page")
}

// digest returns what tells one query from another.
func digest(query any) []byte {
	raw, _ := rawjson.Marshal(query) // without JSON, all queries are one
	sum := sha256.Sum256(raw)
	return sum[:digestSize]
}
