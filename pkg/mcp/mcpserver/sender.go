package mcpserver

import (
	"cmp"
	"context"
	"strings"
	"unicode"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// Sender is who sends a request, as far as the transport knows.
type Sender struct {
	// Name is that of the credential, or empty.
	Name string
	// Person is set if a person sends it from a page of the server.
	Person bool
}

// senderKey is the key of the context that WithSender adds.
type senderKey struct{}

// WithSender returns a context for the requests of a transport that connects to the SDK's server itself: the calls have the sender.
func WithSender(ctx context.Context, s Sender) context.Context {
	return context.WithValue(ctx, senderKey{}, s)
}

// maxClient is the most bytes of the name of a client.
const maxClient = 100

// setSender sets who calls: the name that the client has given itself, or else that of its credential.
func (c *Call) setSender(ctx context.Context, req *mcp.CallToolRequest) {
	sender, _ := ctx.Value(senderKey{}).(Sender)
	c.Person = sender.Person
	var own string
	if info := req.ClientInfo(); info != nil {
		own = clientName(info.Name, info.Version)
	}
	c.Client = cmp.Or(own, clientName(sender.Name, ""))
}

// clientName returns the name and the version of a client on one line of limited length. What a client calls itself proves nothing.
func clientName(name, version string) string {
	clean := func(text string) string {
		text = strings.Map(func(r rune) rune {
			if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r) {
				return ' '
			}
			return r
		}, strings.ToValidUTF8(text, ""))
		return strings.Join(strings.Fields(text), " ")
	}
	if name = clean(name); name == "" {
		return ""
	}
	return fault.Truncate(strings.TrimSpace(name+" "+clean(version)), maxClient)
}
