package node

import (
	"errors"
	"net"
	"os"
	"strings"
)

// plainNet is what an error of the network says, without the names of the packages and system calls that it came through
// and without the local ports, which say nothing.
func plainNet(err error) string {
	if unknown, ok := errors.AsType[*net.DNSError](err); ok {
		if unknown.IsNotFound {
			return "there is no host named " + unknown.Name
		}
		return "the host " + unknown.Name + " cannot be looked up: " + unknown.Err
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err
	}
	if call, ok := errors.AsType[*os.SyscallError](err); ok {
		err = call.Err
	}
	return goWords.Replace(err.Error())
}

// goWords takes off how parts of Go's library begin their errors.
var goWords = strings.NewReplacer("net/http: ", "", "http: ", "", "http2: ", "", "HTTP/1.x transport connection broken: ", "", "tls: ", "", "x509: ", "")
