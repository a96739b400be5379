package stdio

import (
	"errors"

	"github.com/pflow-suite/pflow/pkg/mcp/message"
)

// isTooLong reports whether an error refuses a message because it is too long, without an id.
func isTooLong(err error) bool {
	refused, ok := errors.AsType[*message.Refusal](err)
	return ok && refused.Message == tooLong && refused.ID == nil
}

// blanks reads as spaces without end.
type blanks struct{}

func (blanks) Read(p []byte) (int, error) {
	const some = "                                                                "
	for n := 0; n < len(p); {
		n += copy(p[n:], some)
	}
	return len(p), nil
}
