package veloflux

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strings"
	"syscall"
)

// maybeCreated ends the error of a create whose end nobody knows.
const maybeCreated = ". The pipeline may have been created all the same: look whether it is there before you try again"

// unreached is the error of a request without an answer. The context is the caller's, without the timeout.
func (x *exchange) unreached(ctx context.Context, err error) *Error {
	if e := x.ended(ctx, err); e != nil {
		return e
	}
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err // without the URL, which is said in its own words
	}
	e := &Error{
		Code:    CodeManagerHTTP,
		Message: fmt.Sprintf("%s failed: no answer from the veloFlux Manager at %s: %s", x.what(), x.base, excerpt(reason(err))),
	}
	if errors.Is(err, syscall.ECONNREFUSED) {
		e.Details = map[string]any{"retryable": true}
	}
	if x.creates() && x.connected.Load() && certificateReason(err) == "" {
		e.maybeCreated()
	}
	return e
}

// maybeCreated says that the pipeline may be there all the same. So the same request is not to be made again as it is.
func (e *Error) maybeCreated() {
	e.Message = strings.Replace(e.Message+maybeCreated, "?. ", "? ", 1)
	if e.Details == nil {
		e.Details = map[string]any{}
	}
	e.Details["maybe_created"] = true
	e.again = e.Details["retryable"] == true
	delete(e.Details, "retryable")
}

// ended is the error of a request whose context or time ended, or nil.
func (x *exchange) ended(ctx context.Context, err error) *Error {
	var e *Error
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		e = &Error{Code: CodeToolFailed, Message: x.what() + " was cancelled", Cause: context.Canceled}
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		e = x.late(": the caller's time ran out")
	case errors.Is(err, context.DeadlineExceeded):
		e = x.late(fmt.Sprintf(" after %gs, waiting for %s", x.timeout.Seconds(), x.base))
	default:
		return nil
	}
	if x.creates() && x.connected.Load() {
		e.maybeCreated()
	}
	return e
}

// late is the error of a request whose time ran out.
func (x *exchange) late(how string) *Error {
	return &Error{
		Code: CodeTimeout, Message: x.what() + " failed: timeout" + how, Cause: context.DeadlineExceeded,
		Details: map[string]any{"retryable": true},
	}
}

// brokenOff is the error of a success whose answer did not come to its end.
func (x *exchange) brokenOff(ctx context.Context, status int, body []byte, err error) *Error {
	if e := x.ended(ctx, err); e != nil {
		return e
	}
	e := &Error{
		Code:    CodeManagerHTTP,
		Message: fmt.Sprintf("%s failed: HTTP %d, but the answer breaks off after %d bytes: %s", x.what(), status, len(body), excerpt(reason(err))),
		Details: map[string]any{"status": status},
	}
	if text := x.repeated(body, true); text != "" {
		e.Details["response"] = text
	}
	if x.creates() {
		e.maybeCreated()
	}
	return e
}

// reason says why there is no answer, and what can be done.
func reason(err error) string {
	if said := certificateReason(err); said != "" {
		return said
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		if dns.IsNotFound {
			return "there is no host named " + dns.Name + ". Is the URL right?"
		}
		return "the host " + dns.Name + " cannot be looked up: " + dns.Err
	}
	var where string
	if op, ok := errors.AsType[*net.OpError](err); ok {
		if op.Op == "proxyconnect" {
			where = "the proxy: "
		}
		if errors.Is(err, syscall.ECONNREFUSED) {
			if where != "" {
				return "the proxy refuses the connection"
			}
			return "connection refused. Is it running, and is the URL right?"
		}
		err = op.Err
	}
	if call, ok := errors.AsType[*os.SyscallError](err); ok {
		err = call.Err
	}
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return where + "the connection was closed before the answer was whole"
	case errors.Is(err, errProxyAddress):
		return err.Error()
	}
	return where + plain(err)
}

// certificateReason says what is wrong with TLS, or nothing.
func certificateReason(err error) string {
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return "its certificate is signed by an authority that is not trusted here. Give that authority's certificate (PEM) as the CA file"
	}
	if wrong, ok := errors.AsType[x509.HostnameError](err); ok {
		return "its certificate is for another host: " + plain(wrong) + ". Use a name that the certificate has in the URL"
	}
	if wrong, ok := errors.AsType[x509.CertificateInvalidError](err); ok {
		return "its certificate is not valid: " + plain(wrong)
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok || strings.Contains(err.Error(), "server gave HTTP response to HTTPS client") {
		return "it does not speak TLS. Should the URL begin with http://?"
	}
	text := err.Error()
	if !strings.Contains(text, "remote error: tls:") {
		return ""
	}
	_, alert, _ := strings.Cut(text, "remote error: tls: ")
	if strings.Contains(alert, "certificate") || strings.Contains(alert, "unknown") || strings.Contains(alert, "handshake failure") {
		return "it does not accept the client's certificate (" + alert + "). Give a client certificate that it trusts, with its key"
	}
	return "it ended the TLS handshake: " + alert
}
