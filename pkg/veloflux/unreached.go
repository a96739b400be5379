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

// maybeCreatedAdvice ends the message for a create whose outcome is unknown.
const maybeCreatedAdvice = ". The pipeline may have been created anyway: check whether it exists before you try again"

// unreached returns the error for a request without a response. ctx is the caller's context, without the timeout.
func (x *exchange) unreached(ctx context.Context, err error) *Error {
	if e := x.contextError(ctx, err); e != nil {
		return e
	}
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err // without the URL, which the message shows in another form
	}
	e := &Error{
		Code:    CodeManagerHTTP,
		Message: fmt.Sprintf("%s failed: no answer from the veloFlux Manager at %s: %s", x.what(), x.base, printable(unreachedReason(err))),
	}
	if errors.Is(err, syscall.ECONNREFUSED) {
		e.Details = map[string]any{"retryable": true}
	}
	e.closed = x.connected.Load() && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET))
	if x.creates() && x.connected.Load() && certificateReason(err) == "" {
		e.maybeCreated()
	}
	return e
}

// maybeCreated records that the pipeline may exist, so that the request must not simply be repeated.
func (e *Error) maybeCreated() {
	e.Message = strings.Replace(e.Message+maybeCreatedAdvice, "?. ", "? ", 1)
	if e.Details == nil {
		e.Details = map[string]any{}
	}
	e.Details["maybe_created"] = true
	e.wasRetryable = e.Details["retryable"] == true
	delete(e.Details, "retryable")
}

// contextError returns the error for a request whose context or timeout ended, or nil.
func (x *exchange) contextError(ctx context.Context, err error) *Error {
	var e *Error
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		e = &Error{Code: CodeToolFailed, Message: x.what() + " was cancelled", Cause: context.Canceled}
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		e = x.timeoutError(": the caller's time ran out")
	case errors.Is(err, context.DeadlineExceeded):
		e = x.timeoutError(fmt.Sprintf(" after %gs, waiting for %s", x.timeout.Seconds(), x.base))
	default:
		return nil
	}
	if x.creates() && x.connected.Load() {
		e.maybeCreated()
	}
	return e
}

// timeoutError returns the error for a request whose time ran out.
func (x *exchange) timeoutError(how string) *Error {
	return &Error{
		Code: CodeTimeout, Message: x.what() + " failed: timeout" + how, Cause: context.DeadlineExceeded,
		Details: map[string]any{"retryable": true},
	}
}

// brokenOff returns the error for a successful response whose body is incomplete.
func (x *exchange) brokenOff(ctx context.Context, status int, body []byte, err error) *Error {
	if e := x.contextError(ctx, err); e != nil {
		return e
	}
	e := &Error{
		Code:    CodeManagerHTTP,
		Message: fmt.Sprintf("%s failed: HTTP %d, but the answer breaks off after %d bytes: %s", x.what(), status, len(body), printable(unreachedReason(err))),
		Details: map[string]any{"status": status},
	}
	if text := x.quoted(body, true); text != "" {
		e.Details["response"] = text
	}
	if x.creates() {
		e.maybeCreated()
	}
	return e
}

// unreachedReason returns why there is no response, and what can be done.
func unreachedReason(err error) string {
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
	return where + withoutPrefixes(err)
}

// certificateReason returns what is wrong with TLS, or "".
func certificateReason(err error) string {
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return "its certificate is signed by an authority that is not trusted here. Give that authority's certificate (PEM) as the CA file"
	}
	if wrong, ok := errors.AsType[x509.HostnameError](err); ok {
		return "its certificate is for another host: " + withoutPrefixes(wrong) + ". Use a name from the certificate in the URL"
	}
	if wrong, ok := errors.AsType[x509.CertificateInvalidError](err); ok {
		return "its certificate is not valid: " + withoutPrefixes(wrong)
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
