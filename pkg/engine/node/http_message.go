package node

import (
	"errors"
	"net"
	"os"
	"strings"
)

// netMessage returns the message of a network error without the names of Go packages and system calls, and without local
// ports.
func netMessage(err error) string {
	if unknown, ok := errors.AsType[*net.DNSError](err); ok {
		if unknown.IsNotFound {
			return "unknown host " + unknown.Name
		}
		return "cannot look up the host " + unknown.Name + ": " + unknown.Err
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err
	}
	if call, ok := errors.AsType[*os.SyscallError](err); ok {
		err = call.Err
	}
	return goPrefixes.Replace(err.Error())
}

// goPrefixes removes the prefixes that Go's packages put before their errors.
var goPrefixes = strings.NewReplacer("net/http: ", "", "http: ", "", "http2: ", "", "HTTP/1.x transport connection broken: ", "", "tls: ", "", "x509: ", "")
