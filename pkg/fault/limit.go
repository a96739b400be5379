package fault

import (
	"encoding/json"
	"strings"
)

// LimitErrors returns a copy of the fault that has at most the given number of Errors, the first ones.
func (f *Fault) LimitErrors(most int) *Fault {
	c := *f
	if len(f.Errors) > most {
		c.ErrorsTotal = max(f.ErrorsTotal, len(f.Errors))
		c.Errors = f.Errors[:most:most]
	}
	return &c
}

// LimitBytes returns a copy of the fault that takes at most the given number of bytes as JSON, which must be at least 1000.
// It drops the last Errors first, then Missing, Available, Suggestions and Next, then Details, and shortens the message last. The first
// of the Errors is shortened before it is dropped.
func (f *Fault) LimitBytes(most int) *Fault {
	c := *f
	for !c.fits(most) {
		switch n := len(c.Errors); {
		case n > 16:
			c = *c.LimitErrors(n / 2)
		case n == 1 && most >= 2000 && !c.Errors[0].fits(most/2):
			c.Errors = []*Fault{c.Errors[0].LimitBytes(most / 2)}
		case n > 0:
			c = *c.LimitErrors(n - 1)
		case len(c.Missing)+len(c.Available)+len(c.Suggestions)+len(c.Next) > 0:
			if len(c.Available) > 0 {
				c.AvailableTotal = max(c.AvailableTotal, len(c.Available))
			}
			c.Missing, c.Available, c.Suggestions, c.Next = half(c.Missing), half(c.Available), half(c.Suggestions), half(c.Next)
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

func half[T any](list []T) []T { return list[:len(list)/2] }

// Truncate returns text if it has at most the given number of bytes, and else its beginning followed by "…".
func Truncate(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
