package workflow

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"
)

// Duration is a time as workflows write it: a number of seconds, or text such as 500ms, 30s, 5m or 1h30m. It is written
// as a number of seconds.
type Duration time.Duration

// ParseDuration reads a duration; ok is false for what is none or is negative.
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

// UnmarshalJSON reads a number or a text.
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

// MarshalJSON writes seconds.
func (d Duration) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, time.Duration(d).Seconds(), 'f', -1, 64), nil
}

// String is the duration as people write it: 1.5s, 2m.
func (d Duration) String() string { return time.Duration(d).String() }
