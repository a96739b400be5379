package fault

import (
	"encoding/json"
	"strings"
)

// LimitBytes is the fault as JSON of no more than so many bytes, a thousand at least: with fewer of the faults that it counts
// and of what it lists, and at last with a shorter message and no details. One that fits is given back as it is.
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

// Truncate is the first so many bytes of a text, and … where that is not all.
func Truncate(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
