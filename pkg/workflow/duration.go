package workflow

import (
	"errors"
	"strconv"
	"time"

	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// Duration is a duration in a workflow: a number of seconds, or text such as 500ms, 30s, 5m or 1h30m. It is encoded as a
// number of seconds.
type Duration time.Duration

// ParseDuration parses a duration; ok is false if text is not a duration or is negative.
func ParseDuration(text string) (d Duration, ok bool) {
	t, ok := nodetype.ParseDuration(text)
	return Duration(t), ok
}

// UnmarshalJSON decodes a number or a text.
func (d *Duration) UnmarshalJSON(b []byte) error {
	got, ok := nodetype.DurationOf(b)
	if !ok {
		return errNoDuration
	}
	*d = Duration(got)
	return nil
}

var errNoDuration = errors.New(`a duration is a number of seconds, or text such as "30s" or "5m"`)

// MarshalJSON encodes the duration in seconds.
func (d Duration) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, time.Duration(d).Seconds(), 'f', -1, 64), nil
}

// String formats the duration like [time.Duration], for example 1.5s or 2m0s.
func (d Duration) String() string { return time.Duration(d).String() }
