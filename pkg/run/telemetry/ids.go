package telemetry

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
)

// traceID and spanID return the bytes of an id in hexadecimal digits, or nil if it is not one.
func traceID(digits string) []byte { return id(digits, 16) }
func spanID(digits string) []byte  { return id(digits, 8) }

func id(digits string, size int) []byte {
	b, err := hex.DecodeString(digits)
	if err != nil || len(b) != size {
		return nil
	}
	return b
}

// madeID returns the span id of something that the stream has no id of. It is the same each time the stream is read.
func madeID(run, what, node string, seq int64) []byte {
	sum := sha256.Sum256([]byte(run + "\x00" + what + "\x00" + node + "\x00" + strconv.FormatInt(seq, 10)))
	return sum[:8]
}
