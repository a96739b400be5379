package node

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// noResponseFault is the fault of a request without a response.
func (x *exchange) noResponseFault(ctx context.Context, err error) *fault.Fault {
	where := x.request.displayURL()
	if late, ok := errors.AsType[*TimeoutError](context.Cause(ctx)); ok {
		f := fault.New(fault.Timeout, "Request to %s timed out after %s seconds%s", where, seconds(late.After), x.progress()).
			Suggest("Give the node a longer \"timeout\"")
		f.Retryable = true
		return f
	}
	if stalled := context.Cause(ctx); errors.Is(stalled, errStalled) {
		f := fault.New(fault.Timeout, "Request to %s timed out: %v%s", where, stalled, x.progress()).
			Suggest(`Give the node a "timeout", such as "5m", if the server needs longer: it replaces this limit`)
		f.Retryable = true
		return f
	}
	if cause := context.Cause(ctx); cause != nil {
		return fault.From(cause)
	}
	if own, ok := errors.AsType[*fault.Fault](err); ok { // about a proxy in the environment
		return own
	}
	if f := x.certificateFault(err); f != nil {
		return f
	}
	message := err.Error()
	switch {
	case strings.HasPrefix(message, "net/http: invalid"): // about a header or a method, before the request is sent
		return fault.New(fault.Execution, "Request to %s failed: %s", where, netMessage(err)).Suggest("Correct the url, method or headers")
	case strings.Contains(message, "server response headers exceeded"):
		return fault.New(fault.TooLarge, "The response headers of %s are longer than %d bytes", where, maxHeader).
			Suggest("Check the URL: the server may not be the one you mean")
	case isMalformed(message):
		return fault.New(fault.Protocol, "%s did not send a valid HTTP response: %s", where, netMessage(err)).Suggest("Check the URL: its scheme, host and port")
	}
	return x.connectionFault(where, err)
}

// progress describes how much of the response had arrived.
func (x *exchange) progress() string {
	if x.outputs.StatusCode == 0 {
		return " without a response"
	}
	return fmt.Sprintf("; %d bytes of the response were received", x.outputs.Size)
}

// isMalformed reports whether an error is about a response that is not HTTP, which another attempt would not change.
// net/http has no types for these errors.
func isMalformed(message string) bool {
	return slices.ContainsFunc([]string{"malformed ", "unsupported transfer encoding", "bad Content-Length", "invalid Content-Length", "too many 1xx", "too many transfer encodings",
		"multiple Content-Length", "invalid byte in chunk", "chunk length too large", "empty hex number for chunk", "chunked encoding contains too much", "header line too long"},
		func(part string) bool { return strings.Contains(message, part) })
}

// connectionFault is the fault of a connection that could not be made, or broke.
func (x *exchange) connectionFault(where string, err error) *fault.Fault {
	if refused, ok := errors.AsType[*proxyError](err); ok {
		f := fault.New(fault.Unavailable, "The proxy refused to connect to %s: HTTP %d %s", where, refused.status, http.StatusText(refused.status))
		if refused.status == http.StatusProxyAuthRequired {
			return f.Suggest("Put the proxy's user and password into its URL: http://user:password@host:port")
		}
		f.Retryable = refused.status >= 500
		return f.Suggest(suggestProxy)
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && (op.Op == "proxyconnect" || op.Op == "socks connect") {
		return x.proxyConnectionFault(where, op.Err)
	}
	if unknown, ok := errors.AsType[*net.DNSError](err); ok && unknown.IsNotFound {
		return fault.New(fault.Unavailable, "Could not connect to %s: unknown host %s", where, unknown.Name).
			Suggest("Check the host in the URL and the network connection")
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		return x.unavailableFault("Could not connect to %s: %s", where, netMessage(err))
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return x.unavailableFault("Request to %s failed: the server closed the connection without a response", where)
	}
	return x.unavailableFault("Request to %s failed: %s", where, netMessage(err))
}

// proxyConnectionFault is the fault of a proxy that cannot be reached, or refuses the client.
func (x *exchange) proxyConnectionFault(where string, err error) *fault.Fault {
	named := "HTTP_PROXY"
	switch {
	case x.in.Proxy != "":
		named = "proxy"
	case x.request.url.Scheme == "https":
		named = "HTTPS_PROXY"
	}
	f := fault.New(fault.Unavailable, "Could not connect to %s through the proxy given in %s: %s", where, named, netMessage(err))
	unknown, ok := errors.AsType[*net.DNSError](err)
	f.Retryable = !strings.Contains(err.Error(), "authentication") && !(ok && unknown.IsNotFound)
	return f.Suggest(suggestProxy)
}

const suggestProxy = `Check the proxy in "proxy", HTTP_PROXY or HTTPS_PROXY; "proxy": "none" connects directly`

// unavailableFault is the fault of a connection that may work at the next attempt.
func (x *exchange) unavailableFault(format string, args ...any) *fault.Fault {
	f := fault.New(fault.Unavailable, format, args...).Suggest("Check the URL, and that the service is running")
	f.Retryable = true
	return f
}

// proxyError is the error of a proxy's response to CONNECT other than 200.
type proxyError struct{ status int }

func (e *proxyError) Error() string { return fmt.Sprintf("the proxy responded with HTTP %d", e.status) }

// certificateFault is the fault of a failed TLS handshake; nil for any other error.
func (x *exchange) certificateFault(err error) *fault.Fault {
	where, host := x.request.displayURL(), x.request.url.Hostname()
	if plain, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		f := fault.New(fault.Protocol, "%s does not speak TLS", where)
		if string(plain.RecordHeader[:]) == "HTTP/" {
			f.Message += " but plain HTTP"
		}
		return f.Suggest("Use http:// in the URL, or the port that speaks TLS")
	}
	if wrong, ok := errors.AsType[x509.HostnameError](err); ok {
		f := fault.New(fault.Execution, "The certificate of %s is not for %s", where, host)
		if names := certificateNames(wrong.Certificate); names != "" {
			f.Message += ", only for " + names
		}
		return f.Suggest("Use a name in the URL that the certificate is for").Suggest(suggestUnverified)
	}
	if wrong, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		what := "is signed by an authority that is not trusted here"
		if c := wrong.Cert; c != nil && c.Subject.String() == c.Issuer.String() {
			what = "is self-signed, or signed by an authority that is not trusted here"
		}
		return fault.New(fault.Execution, "The certificate of %s %s", where, what).
			Suggest(`Give the authority's certificate, or the self-signed one, as "ca_file"`).Suggest(suggestUnverified)
	}
	if wrong, ok := errors.AsType[x509.CertificateInvalidError](err); ok {
		return invalidCertificateFault(where, wrong)
	}
	if alert, ok := errors.AsType[*net.OpError](err); ok && alert.Op == "remote error" {
		return fault.New(fault.Execution, "%s refused the TLS connection: %s", where, netMessage(alert.Err)).
			Suggest(`If it requires a client certificate, give "client_cert" and "client_key" that it trusts`)
	}
	if wrong, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return fault.New(fault.Execution, "The certificate of %s cannot be trusted: %s", where, netMessage(wrong.Err)).Suggest(suggestUnverified)
	}
	return nil
}

// suggestUnverified is the last suggestion about a certificate.
const suggestUnverified = `Only on a trusted network: "verify_tls": false accepts any certificate`

// invalidCertificateFault is the fault of a certificate that has expired or is malformed.
func invalidCertificateFault(where string, wrong x509.CertificateInvalidError) *fault.Fault {
	if wrong.Reason != x509.Expired || wrong.Cert == nil {
		return fault.New(fault.Execution, "The certificate of %s is not valid: %s", where, netMessage(wrong)).Suggest(suggestUnverified)
	}
	f := fault.New(fault.Execution, "The certificate of %s expired on %s", where, wrong.Cert.NotAfter.UTC().Format(time.DateOnly))
	if time.Now().Before(wrong.Cert.NotBefore) {
		f.Message = fmt.Sprintf("The certificate of %s is not valid before %s", where, wrong.Cert.NotBefore.UTC().Format(time.DateOnly))
	}
	return f.Suggest("Ask the operator of the server to renew it, and check this machine's clock").Suggest(suggestUnverified)
}

// certificateNames lists the hosts that a certificate is for, at most five.
func certificateNames(c *x509.Certificate) string {
	if c == nil {
		return ""
	}
	names := slices.Clone(c.DNSNames)
	for _, ip := range c.IPAddresses {
		names = append(names, ip.String())
	}
	if len(names) > 5 {
		names = append(names[:5], "…")
	}
	return strings.Join(names, ", ")
}

// statusFault is the fault of a status other than a success; head is the beginning of the body.
func (x *exchange) statusFault(status int, head []byte) *fault.Fault {
	f := fault.New(fault.Execution, "HTTP %d", status).Detail("status", status)
	if text := http.StatusText(status); text != "" {
		f.Message += " " + text
	}
	f.Message += fmt.Sprintf(" from %s %s", x.request.method, x.request.displayURL())
	if text := strings.TrimSpace(strings.ToValidUTF8(string(head), "\uFFFD")); text != "" {
		f.Message += ": " + fault.Truncate(text, 500)
	}
	switch status {
	case http.StatusTooManyRequests:
		f.Type, f.Retryable = fault.RateLimited, true
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		f.Type, f.Retryable = fault.Unavailable, true
	case http.StatusUnauthorized, http.StatusForbidden:
		f.Suggest("Check the credentials: auth_token, api_key or headers")
		if len(x.visited) > 0 {
			f.Suggest("It was redirected from %s, and credentials are not sent to another host: use this URL directly", x.visited[len(x.visited)-1])
		}
	case http.StatusProxyAuthRequired:
		f.Suggest("Put the proxy's user and password into its URL: http://user:password@host:port")
	}
	if len(f.Suggestions) == 0 {
		f.Suggest("Correct the request, or handle this failure with an edge of action \"error\"")
	}
	return f
}
