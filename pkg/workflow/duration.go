package workflow

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"
)

// Duration is a duration in a workflow: a number of seconds, or text such as 500ms, 30s, 5m or 1h30m. It is encoded as a
// number of seconds.
type Duration time.Duration

// ParseDuration parses a duration; ok is false if text is not a duration or is negative.
func ParseDuration(text string) (d Duration, ok bool) {
	if s, err := strconv.ParseFloat(text, 64); err == nil {
		if !(s >= 0 && s <= maxSeconds) {
			return 0, false
		}
		return Duration(s * float64(time.Second)), true
	}
	t, err := time.ParseDuration(strings.TrimSpace(text))
	return Duration(t), err == nil && t >= 0
}

// maxSeconds is the longest duration, 100 years.
const maxSeconds = 100 * 365 * 24 * 3600

// UnmarshalJSON decodes a number or a text.
func (d *Duration) UnmarshalJSON(b []byte) error {
	text := string(b)
	if len(b) > 0 && b[0] == '"' {
		if err := json.Unmarshal(b, &text); err != nil {
			return err
		}
	}
	got, ok := ParseDuration(text)
	if !ok {
		return errNoDuration
	}
	*d = got
	return nil
}

var errNoDuration = errors.New(`a duration is a number of seconds, or text such as "30s" or "5m"`)

// MarshalJSON encodes the duration in seconds.
func (d Duration) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, time.Duration(d).Seconds(), 'f', -1, 64), nil
}

// String formats the duration like [time.Duration], for example 1.5s or 2m0s.
func (d Duration) String() string { return time.Duration(d).String() }
