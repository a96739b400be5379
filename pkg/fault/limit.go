package fault

import (
	"encoding/json"
	"strings"
)

// LimitBytes returns a copy of the fault that takes at most the given number of bytes as JSON, which must be at least 1000.
// It drops Errors first, then Missing, Available and Suggestions, then Details, and shortens the message last.
func (f *Fault) LimitBytes(most int) *Fault {
	c := *f
	for !c.fits(most) {
		switch {
		case len(c.Errors) > 0:
			c.Errors = c.Errors[:len(c.Errors)/2]
		case len(c.Missing)+len(c.Available)+len(c.Suggestions) > 0:
			c.Missing, c.Available, c.Suggestions = half(c.Missing), half(c.Available), half(c.Suggestions)
		case len(c.Details) > 0:
			c.Details = nil
		default:
			c.Message = Truncate(c.Message, most/8)
			c.Node, c.Path, c.File = Truncate(c.Node, most/32), Truncate(c.Path, most/32), Truncate(c.File, most/32)
			return &c
		}
	}
	return &c
}

func (f *Fault) fits(most int) bool {
	raw, err := json.Marshal(f)
	return err == nil && len(raw) <= most
}

func half(list []string) []string { return list[:len(list)/2] }

// Truncate returns text if it has at most the given number of bytes, and else its beginning followed by "…".
func Truncate(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
