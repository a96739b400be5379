package rawjson

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Bytes is a number of bytes in a workflow or in the settings: a whole number, or text such as 500kB, 30MB or 1.5GiB. It is
// encoded as a number.
type Bytes int64

// MaxBytes is the largest size, the largest whole number that every JSON reader keeps.
const MaxBytes = 1<<53 - 1

// units are the units of sizes in lower case. As in the tools of GNU, k is 1,024 and kB is 1,000.
var units = map[string]float64{
	"": 1, "b": 1,
	"kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12,
	"k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40,
	"kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40,
}

// ParseBytes parses a size of at least one byte; ok is false if text is not one. Units may be of either case, and a space may
// stand before them.
func ParseBytes(text string) (b Bytes, ok bool) {
	text = strings.TrimSpace(text)
	end := strings.LastIndexAny(text, "0123456789.") + 1
	unit, known := units[strings.ToLower(strings.TrimLeft(text[end:], " "))]
	if !known || strings.Trim(text[:end], "0123456789.") != "" {
		return 0, false
	}
	n, err := strconv.ParseFloat(text[:end], 64)
	n *= unit
	if err != nil || !(n >= 1 && n <= MaxBytes) || unit == 1 && n != math.Trunc(n) {
		return 0, false
	}
	return Bytes(n), true
}

var errNoBytes = errors.New(`a size is a number of bytes from 1, or text such as "30MB" or "2GiB"`)

// UnmarshalJSON decodes a number or a text.
func (b *Bytes) UnmarshalJSON(raw []byte) error {
	text := string(raw)
	if n, err := strconv.ParseFloat(text, 64); err == nil && n >= 1 && n <= MaxBytes && n == math.Trunc(n) {
		*b = Bytes(n)
		return nil
	}
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &text) != nil {
		return errNoBytes
	}
	got, ok := ParseBytes(text)
	if !ok {
		return errNoBytes
	}
	*b = got
	return nil
}

// String formats the size for people, exactly: 128 MiB, 30 MB, or 1500 bytes.
func (b Bytes) String() string {
	for _, u := range []struct {
		size Bytes
		name string
	}{{1 << 40, "TiB"}, {1e12, "TB"}, {1 << 30, "GiB"}, {1e9, "GB"}, {1 << 20, "MiB"}, {1e6, "MB"}, {1 << 10, "KiB"}, {1e3, "kB"}} {
		if b > 0 && b%u.size == 0 {
			return fmt.Sprintf("%d %s", b/u.size, u.name)
		}
	}
	if b == 1 {
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", int64(b))
}
